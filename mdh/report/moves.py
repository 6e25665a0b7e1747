"""Bytes on their way between two layers of memory."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """`count` times `bytes` (the footprint, extents `box`) go from layer `source` to `sink`."""

    buffer: str
    source: str
    sink: str
    step: int
    box: tuple[int, ...]
    bytes: int
    count: int

    @property
    def total(self) -> int:
        return self.bytes * self.count


def product(numbers: Iterable[int]) -> int:
    n = 1
    for x in numbers:
        n *= x
    return n
