"""Copies that several blocks of a cluster share: each block brings a part, and all of them receive it."""

from dataclasses import dataclass

from mdh.hardware import Layer
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.ir.tile import Boxes, Copy, Tiles


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the blocks of a cluster share a copy. axis: the dimension of the tile along which each block has a
    part of `length` elements, which it brings in `boxes`. blocks: the levels of the blocks that share."""

    blocks: tuple[Level, ...]
    axis: int
    length: int
    boxes: Boxes

    @property
    def count(self) -> int:
        n = 1
        for level in self.blocks:
            n *= level.parts
        return n


def sharing_blocks(plan: StagePlan, tiles: Tiles, copy: Copy) -> tuple[Level, ...]:
    """The levels of blocks in a cluster that read the same elements."""
    if not plan.clustered:
        return ()
    apart = {name for axis in copy.tile.axes for name in axis.low.names}
    return tuple(lv for lv in tiles.levels.all if lv.layer is Layer.BLK and lv.var not in apart)


def sharing_of(plan: StagePlan, tiles: Tiles, copy: Copy) -> Sharing | None:
    """None where no dimension of the tile can be cut into as many parts of whole boxes."""
    blocks = sharing_blocks(plan, tiles, copy)
    count = 1
    for level in blocks:
        count *= level.parts
    shape = copy.tile.shape
    last = len(shape) - 1
    for axis in (last, *range(last)) if copy.tile.span else range(last + 1):
        length, rest = divmod(shape[axis], count)
        if rest or (axis == last and length % (copy.tile.span or shape[last])):
            continue
        boxes = copy.tile.boxes_of((*shape[:axis], length, *shape[axis + 1 :]))
        if boxes.elements * copy.tile.sizes[0] % copy.tile.unit == 0:
            return Sharing(blocks, axis, length, boxes)
    return None
