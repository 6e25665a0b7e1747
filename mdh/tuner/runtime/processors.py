"""The processors of this machine: how many compilers they carry, and how the tuner's thread shares them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_GIVES_WAY = 0.0005
"""Seconds after which a thread that computes lets another one that asks."""
_EACH = 4
"""Builders for one processor that still make sense: some wait for the disk. Each holds a quarter of a
gigabyte before it compiles anything; thousands would take the machine down."""
_WRITTEN = 10**9


def processors() -> int:
    """That this process may use."""
    return max(1, len(os.sched_getaffinity(0)))


def most_jobs() -> int:
    return _EACH * processors()


def too_many(jobs: int) -> tuple[str, str] | None:
    """Headline and help for more builders than this machine can carry."""
    if jobs <= most_jobs():
        return None
    count = processors()
    one = "processor" if count == 1 else "processors"
    # Python does not write out a number of 5,000 digits
    many = f"{jobs:,}" if jobs < _WRITTEN else "so many"
    return (
        f"{many} compilers at once are too many for {count} {one}",
        f"give at most {most_jobs()}, or nothing: there is one for each processor then",
    )


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
