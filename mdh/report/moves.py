"""Bytes on their way between two layers of memory."""

from dataclasses import dataclass

from mdh.hardware import Space

OPERANDS = "OP"
"""What the scalar function reads and writes."""
INWARD: tuple[str, ...] = (Space.DM, Space.SM, Space.RM, OPERANDS)


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

    def crosses(self, layer: str) -> bool:
        """True where the bytes leave or enter `layer` on its inner side."""
        inner = INWARD[INWARD.index(layer) + 1 :]
        return (self.source == layer and self.sink in inner) or (self.sink == layer and self.source in inner)
