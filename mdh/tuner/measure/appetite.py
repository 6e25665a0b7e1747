"""Limits the memory of a compiler, so that one that takes too much fails alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from mdh.memory_left import limited, memory_total

_LEAST = 4 << 30
_PART = 0.5
"""The share of the machine's memory."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """Inside, this process may grow by half of the machine's memory, or by 4 GiB if that is more, because on
    some machines the memory grows with its use."""
    with limited(max(_LEAST, int(_PART * memory_total()))):
        yield
