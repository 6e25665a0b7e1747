"""How much memory a compiler may take: one that eats all of it fails alone."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LEAST = 4 << 30
_PART = 0.5
"""Of the machine's memory."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """Inside, what this process holds may grow by half of the machine's memory, or by 4 GiB where that is
    more: machines there are whose memory grows with its use."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = held_bytes() + max(_LEAST, int(_PART * _total_bytes()))
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def held_bytes() -> int:
    """What the limit counts: private memory that can be written."""
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(words[5]) * resource.getpagesize()


def _total_bytes() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return total
