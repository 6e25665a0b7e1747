"""The processors of this machine: how many builders they can run, and how the tuner's thread shares them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_GIVES_WAY = 0.0005
"""Seconds after which a computing thread hands over to one that waits."""
_EACH = 4
"""The most builders for each processor, since some wait for the disk. Each holds a quarter of a gigabyte
before it compiles anything, so thousands would exhaust the machine."""
_WRITTEN = 10**9


def processors() -> int:
    """The number of processors that this process may use."""
    return max(1, len(os.sched_getaffinity(0)))


def most_jobs() -> int:
    return _EACH * processors()


def too_many(jobs: int) -> tuple[str, str] | None:
    """Headline and help if there are more builders than this machine can run; None otherwise."""
    if jobs <= most_jobs():
        return None
    count = processors()
    one = "processor" if count == 1 else "processors"
    # Python does not print a number of 5,000 digits
    many = f"{jobs:,}" if jobs < _WRITTEN else "so many"
    return (
        f"{many} compilers at once are too many for {count} {one}",
        f"give at most {most_jobs()}, or nothing: there is one for each processor then",
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, NumPy's matrix products use one thread."""
    with some_threads(1):
        yield


@contextmanager
def some_threads(count: int) -> Iterator[None]:
    """Inside, NumPy's matrix products use so many threads."""
    with threadpool_limits(count):
        yield


@contextmanager
def beside_workers() -> Iterator[None]:
    """Inside, the tuner's own thread disturbs the workers as little as possible. Its matrices are small, so
    more threads of the array library would only spin beside the compilers. And it hands over at once, because
    a device must not wait for its next candidate."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_GIVES_WAY)
    try:
        with one_thread():
            yield
    finally:
        sys.setswitchinterval(usual)
