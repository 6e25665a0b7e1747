"""A schedule that is legal for any stage of maps and reductions, whatever its extents are, open ones too."""

from mdh.hardware import Layer
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.map import output_dim
from mdh.schedule.default.outline import ScheduleBuilder
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Unit

THREADS = 64
AXES = ("y", "z")


def simplest(shape: Shape, machine: Machine) -> ScheduleBuilder:
    """Blocks and threads over the results; each result is reduced by one of them, in loops."""
    outline = ScheduleBuilder(shape)
    x = output_dim(shape)
    if x is None:
        return outline
    others = [d for d in shape.of_kind(DimKind.CC) if d != x]
    if machine.kind == "cpu":
        # the longest dimension has the most parts
        longest = max((x, *others), key=lambda d: shape.extents[d])
        outline.step({longest: 1}, {longest: Unit(Layer.BLK, "x")})
        return outline
    # an open extent has several parts at its largest value
    threads = max(1, min(THREADS, shape.extents[x] // 2))
    rows = [d for d in others if shape.extents[d] <= machine.grid_limits[1]][:2]
    units = {x: Unit(Layer.BLK, "x"), **{d: Unit(Layer.BLK, a) for d, a in zip(rows, AXES, strict=False)}}
    outline.step({x: threads, **dict.fromkeys(rows, 1)}, units)
    outline.step({x: 1}, {x: Unit(Layer.THR, "x")})
    return outline
