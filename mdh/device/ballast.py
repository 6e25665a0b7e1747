"""Evicts caches by writing memory: as much as the caches need and the process may take."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from mdh.diagnostics import Failed, fail
from mdh.memory_left import memory_left
from mdh.reference.numbers import Array

_TIMES = 4
"""The multiple of the last cache's size that is written. Two evict it if it replaces the oldest line; more
are needed for other policies."""
_PART = 4
"""At most one part in this many of the remaining memory is taken."""
_UNKNOWN = 1 << 25
"""Bytes of the last cache if the system does not tell."""


def evicting_bytes(last: int, left: int) -> int:
    """The number of bytes to write; 0 if too few can be taken. last: bytes of the last cache. left: bytes
    that may be taken."""
    size = min(_TIMES * last, left // _PART)
    return size if size >= last else 0


class Ballast:
    """Host memory for evicting a CPU's caches. It is allocated at the first write, then kept."""

    def __init__(self, caches: tuple[int, ...]) -> None:
        self.last = max(caches, default=_UNKNOWN)
        self._held: Array | None = None

    def write(self) -> int:
        """Writes the memory and returns the number of bytes. Raises Failed D104."""
        if self._held is None:
            self._held = self._made()
        self._held += 1.0
        return self._held.nbytes

    def _made(self) -> Array:
        left = memory_left()
        # another process may have taken the memory, or it may be fragmented
        with suppress(MemoryError):
            if size := evicting_bytes(self.last, left):
                return np.zeros(size // 8)
        raise fail(
            "D104",
            f"there is no room to evict the caches: {self.last:,} bytes must be written at least, and no more"
            f" than a quarter of the {left:,} bytes that this process may still take",
        )


def evicted(flush: Callable[[], object]) -> str:
    """Why `flush` could not evict the caches for lack of memory; empty if it did. Raises Failed for all other
    reasons."""
    try:
        flush()
    except Failed as failed:
        if any(d.code != "D104" for d in failed.diagnostics):
            raise
        return failed.diagnostics[0].headline
    return ""
