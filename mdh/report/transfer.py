"""Bytes that move between two memory layers, and how often a stage with prefix sums moves them."""

from dataclasses import dataclass
from math import prod

from mdh.hardware import Combine, Layer, Space
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Tiles
from mdh.lower.scan_parts import KEPT_BYTES

OPERANDS = "OP"
"""The operands of the scalar function: what it reads and writes."""
INWARD: tuple[str, ...] = (Space.DM, Space.SM, Space.RM, OPERANDS)


@dataclass(frozen=True, slots=True)
class Transfer:
    """`count` times `bytes` (the footprint, with extents `box`) move from layer `source` to `sink`. step: the
    number of the step in the text that asks for it; 0 if none does."""

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
        """Whether the bytes leave or enter `layer` on its inner side."""
        inner = INWARD[INWARD.index(layer) + 1 :]
        return (self.source == layer and self.sink in inner) or (self.sink == layer and self.source in inner)


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes of a stage with prefix sums over its data: threads run over long parts twice, and kernels
    without look-back make one pass before that.

    before: kernels that run over all data before the main one. own: how often a thread of the main kernel
    runs over its part, which begins at `start` in code order. A stage without a scan has one pass.
    """

    before: int = 0
    own: int = 1
    start: int = 0

    @property
    def points(self) -> int:
        """How often each point is computed."""
        return self.before + self.own

    def copies(self, position: int) -> int:
        """How often a copy at `position` in code order is made."""
        return self.before + (self.own if position >= self.start else 1)


def passes_of(stage: StagePlan, tiles: Tiles) -> Passes:
    scanned = [lv for lv in tiles.levels.all if stage.stage.dims[lv.dim].kind is DimKind.PS]
    blocks = prod(lv.parts for lv in scanned if lv.layer is Layer.BLK)
    before = int(blocks > 1 and not all(Combine.TICKET in methods for methods in stage.combines))
    threads = [stage.code_order.index(lv.step) for lv in scanned if lv in tiles.threads]
    if not threads:
        return Passes(before)
    start = max(threads) + 1
    inner = stage.code_order[start:]
    # registers may keep a thread's part between its two passes, so that it is read and computed once
    part = prod(lv.parts for lv in scanned if lv.step in inner)
    size = max(t.bytes for r in stage.stage.results for t in r.types)
    kept = part * size <= KEPT_BYTES and not any(c.step in inner for c in tiles.copies)
    return Passes(before, 1 if kept else 2, start)
