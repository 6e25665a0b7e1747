"""Contractions on a CPU: a register tile of vectors over packed panels of the second operand."""

from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, grid_size, round_up
from mdh.schedule.default.map import GROUPS_PER_CORE, outer_tiles, vector_lanes
from mdh.schedule.default.operands import Contraction, shared_copy
from mdh.schedule.default.outline import Outline, attribute, held
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import For, Mem, Unit

ROWS = 6
"""Rows of the register tile: with two vectors a row, 12 of 16 vector registers accumulate."""
VECTORS = 2
PANELS = (8, 4, 2, 1)
"""Register tiles side by side in a block's panel, the most first."""


def contraction_cpu(shape: Shape, found: Contraction, machine: Machine) -> Outline:
    outline = Outline(shape)
    column, row = found.columns[0], found.rows[0]
    lanes = vector_lanes(shape, column, machine)
    width = VECTORS * lanes if shape.extents[column] >= VECTORS * lanes else lanes
    height = min(ROWS, shape.extents[row])
    tiles, packed = _panel(shape, found, width, machine)
    wanted = GROUPS_PER_CORE * machine.units
    groups = grid_size(block_axes(tiles, shape.extents, machine), tiles, shape.extents)
    outer = [*found.batch, *sorted(found.rows, key=lambda d: -shape.extents[d])]
    tiles |= outer_tiles(shape, outer[: 3 - len(tiles)] if len(tiles) < 3 else [], ceil_div(wanted, groups))
    if row in tiles:
        tiles[row] = min(shape.extents[row], round_up(tiles[row], height))
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine)), entries=packed)
    results = dict.fromkeys((*found.batch, *found.rows, *found.columns), 1)
    outline.step({**results, column: width, row: height}, {column: For(1)})
    outline.step(dict.fromkeys(found.reduced, 1), entries=held(shape))
    if lanes > 1 and outline.tiles[column] >= lanes:
        outline.step({row: 1, column: lanes}, attrs=(attribute("unroll"),))
        outline.step({column: 1}, {column: Unit("VEC", "x")})
    return outline


def _panel(
    shape: Shape, found: Contraction, width: int, machine: Machine
) -> tuple[dict[int, int], dict[str, Mem]]:
    """Columns of a block, and the second operand packed if a panel fits the cache share and is used again."""
    column = found.columns[0]
    extent = shape.extents[column]
    whole = {d: shape.extents[d] for d in found.reduced}
    reused = max(shape.extents[d] for d in found.rows) >= 4 * ROWS
    for panels in PANELS:
        tile = min(extent, panels * width)
        tiles = {column: tile, **whole, **dict.fromkeys(found.columns[1:], 1)}
        size = shape.footprint(found.second, tiles) * shape.element_bytes(found.second)
        if reused and size <= machine.shared_per_block * 3 // 4 and found.first != found.second:
            packed = {found.second: shared_copy(shape, found.second, column, pad=False)}
            return {column: tile, **dict.fromkeys(found.columns[1:3], 1)}, packed
    return {column: min(extent, PANELS[1] * width)}, {}
