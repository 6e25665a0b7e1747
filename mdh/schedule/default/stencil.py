"""Stencils: neighbouring elements of one input. Threads go along the rows, and each computes a few rows."""

from mdh.hardware import Layer
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, power_up
from mdh.schedule.default.map import by_output, neighbour
from mdh.schedule.default.outline import ScheduleBuilder
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Unit

ROWS = 4
"""Rows that a thread computes. Neighbours above and below stay in its registers."""
COLUMNS = 64
THREADS = 256


def is_stencil(shape: Shape) -> bool:
    """Whether an input is read at several constant offsets."""
    return any(len(shape.reads_of(b)) > 2 for b in shape.inputs)


def stencil(shape: Shape, machine: Machine) -> ScheduleBuilder:
    return by_output(shape, machine, _on_gpu)


def _on_gpu(outline: ScheduleBuilder, x: int, machine: Machine) -> None:
    shape, extents = outline.shape, outline.shape.extents
    y = neighbour(shape, x)
    tiles = dict.fromkeys(shape.of_kind(DimKind.CC), 1)
    if y is None:
        tiles[x] = min(THREADS, power_up(extents[x]))
        outline.step(tiles, dict(block_axes(tiles, extents, machine, x)))
        outline.step({x: 1}, {x: Unit(Layer.THR, "x")})
        return
    columns = min(COLUMNS, power_up(extents[x]))
    rows = ROWS if extents[y] >= 4 * ROWS else 1
    lines = min(THREADS // columns, power_up(ceil_div(extents[y], rows)))
    tiles |= {x: columns, y: rows * lines}
    outline.step(tiles, dict(block_axes(tiles, extents, machine, x)))
    outline.step({x: 1, y: rows}, {x: Unit(Layer.THR, "x"), y: Unit(Layer.THR, "y")})
