"""How much memory a compiler may take: one that eats all of it fails alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from mdh.memory_left import limited, memory_total

_LEAST = 4 << 30
_PART = 0.5
"""Of the machine's memory."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """Inside, what this process holds may grow by half of the machine's memory, or by 4 GiB where that is
    more: machines there are whose memory grows with its use."""
    with limited(max(_LEAST, int(_PART * memory_total()))):
        yield
