"""How the search thinks while compilers and devices work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_GIVES_WAY = 0.0005
"""Seconds after which a thread that computes lets another one that asks."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products of numpy use one thread of the processor."""
    with threadpool_limits(1):
        yield


@contextmanager
def beside_workers() -> Iterator[None]:
    """The model's matrices are small: threads of the array library would only spin beside the compilers. And
    the thread that thinks gives way at once: a device must not wait while its next candidate is there."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_GIVES_WAY)
    try:
        with one_thread():
            yield
    finally:
        sys.setswitchinterval(usual)
