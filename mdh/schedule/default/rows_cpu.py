"""Groups of stages that work on the same rows, on a CPU: a core takes one row after another.

The row comes from memory once. Stages behind the first find it in the cache.
"""

from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes
from mdh.schedule.default.map import ALONE, GROUPS_PER_CORE, outer_tiles, vector_lanes
from mdh.schedule.default.outline import ScheduleBuilder, held, staged
from mdh.schedule.default.row_groups import RowGroup, RowStage, fastest_first, inner_section, side_by_side
from mdh.schedule.model import Mem, Section, Unit

SUMS = 4
"""Vectors of partial results of a row: an addition is done before the next one to the same vector begins."""
SHARE = 0.5
"""Of the second-level cache that a row and what its stages make of it may take."""


def rows_cpu(group: RowGroup, machine: Machine) -> tuple[Section, ...] | None:
    """The sections of the group's stages, the reader's last. None where kernels of their own are better: rows
    are not in one piece, or too large for the cache, or there are fewer than cores, which then share them.

    On two busy cores of a server a layer norm of 4,096 rows of 1,024 takes 0.7 of the time of its kernels or
    less, of 1,024 rows of 16,384 0.6 to 0.8; a softmax, which mostly computes exponentials, as long.
    """
    cache = machine.caches[min(1, len(machine.caches) - 1)]
    reader, extents = group.reader, group.reader.shape.extents
    alone = prod(extents) <= ALONE
    if side_by_side(group) is not None or _row_bytes(group) > SHARE * cache:
        return None
    if group.rows < machine.units and not alone:
        return None
    outline = ScheduleBuilder(reader.shape)
    wanted = 1 if alone else GROUPS_PER_CORE * machine.units
    tiles = outer_tiles(reader.shape, [d for d in reader.kept if extents[d] > 1], wanted)
    outline.step(tiles, dict(block_axes(tiles, extents, machine)))
    outline.step(dict.fromkeys(reader.kept, 1), entries=_made(group, reader))
    step = len(outline.steps)
    vectors(outline, reader, machine)
    out = []
    for stage in group.inner:
        inside = ScheduleBuilder(stage.shape)
        for d in stage.kept:
            inside.tiles[d] = 1
        inside.step({}, entries=_made(group, stage))
        vectors(inside, stage, machine)
        out.append(inner_section(group, stage, inside, step if group.host(stage) is reader else 1))
    return (*out, outline.section(reader.name))


def _made(group: RowGroup, host: RowStage) -> dict[str, Mem]:
    return {b: staged(host.shape, b, Space.SM) for b in group.made(host)}


def _row_bytes(group: RowGroup) -> int:
    """Bytes of all arrays that the stages of a row touch."""
    sizes = dict[str, int]()
    for stage in group.stages:
        tiles = {d: stage.shape.extents[d] for d in stage.along}
        for access in (*stage.shape.reads, *stage.shape.writes):
            moved = prod(n for d, n in tiles.items() if stage.shape.uses(access, d))
            size = moved * stage.shape.element_bytes(access.buffer)
            sizes[access.buffer] = max(size, sizes.get(access.buffer, 0))
    return sum(sizes.values())


def vectors(outline: ScheduleBuilder, stage: RowStage, machine: Machine) -> None:
    """Vectors along the row's fastest dimension, of which a reduction holds several."""
    shape, order = stage.shape, fastest_first(stage)
    if not order:
        return
    x, others = order[0], dict.fromkeys(order[1:], 1)
    lanes = vector_lanes(shape, x, machine)
    if shape.of_kind(DimKind.PW):
        outline.step(
            {**others, x: SUMS * lanes if outline.tiles[x] >= 4 * SUMS * lanes else lanes},
            entries=held(shape),
        )
    outline.step({**others, x: lanes})
    if lanes > 1:
        outline.step({x: 1}, {x: Unit(Layer.VEC, "x")})
