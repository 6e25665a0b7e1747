"""What evicts caches: memory that is written, as much as the caches need and the process may take."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from mdh.diagnostics import Failed, fail
from mdh.memory_left import memory_left
from mdh.reference.numbers import Array

_TIMES = 4
"""Multiples of the last cache that are written. Two evict it; more make sure of it where it is not the oldest
line that goes."""
_PART = 4
"""A quarter of the memory that is left, at most."""
_UNKNOWN = 1 << 25
"""Bytes of the last cache where the system does not tell."""


def evicting_bytes(last: int, left: int) -> int:
    """How many bytes to write. last: bytes of the last cache; left: those that may be taken. 0: too few."""
    size = min(_TIMES * last, left // _PART)
    return size if size >= last else 0


class Ballast:
    """Memory of the host against a CPU's caches; taken when it is first written, then kept."""

    def __init__(self, caches: tuple[int, ...]) -> None:
        self.last = max(caches, default=_UNKNOWN)
        self._held: Array | None = None

    def write(self) -> int:
        """Returns the bytes written. Raises Failed D104."""
        if self._held is None:
            self._held = self._made()
        self._held += 1.0
        return self._held.nbytes

    def _made(self) -> Array:
        left = memory_left()
        # where it is refused all the same, another process was faster or the room is in pieces
        with suppress(MemoryError):
            if size := evicting_bytes(self.last, left):
                return np.zeros(size // 8)
        raise fail(
            "D104",
            f"there is no room to evict the caches: {self.last:,} bytes must be written at least, and no more"
            f" than a quarter of the {left:,} bytes that this process may still take",
        )


def evicted(flush: Callable[[], object]) -> str:
    """Why a device's `flush` could not evict the caches for want of memory; empty: it did. Raises Failed for
    all other reasons."""
    try:
        flush()
    except Failed as failed:
        if any(d.code != "D104" for d in failed.diagnostics):
            raise
        return failed.diagnostics[0].headline
    return ""
