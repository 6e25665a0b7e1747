"""Bytes on their way between two layers of memory."""

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
