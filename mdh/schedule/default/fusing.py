"""Which dimensions default schedules make one.

Neighbours in all arrays are better one dimension than several: rows that are short or odd leave no lanes and
vectors unused, tiles need not divide each extent, and a sum is cut anywhere. What two dimensions move through
as a window is left alone, as the filter of a convolution: other schedules know what it shares.
"""

from mdh.ir.fusion import Group, fused, fusible
from mdh.ir.program import Program, Stage
from mdh.schedule.default.shape import Shape


def joined(shape: Shape) -> Shape:
    """The stage with its largest groups of neighbours as one dimension each; the same object without any."""
    program, stage = shape.program, shape.stage
    groups = tuple(g for g in fusible(program, stage) if _plain(_seen(program, stage, (g,)), stage))
    return _seen(program, stage, groups) if groups else shape


def _seen(program: Program, stage: Stage, groups: tuple[Group, ...]) -> Shape:
    view = fused(program, stage, groups)
    return Shape(view, view.stages[0], groups)


def _plain(shape: Shape, before: Stage) -> bool:
    """Whether the dimension that `before` does not have moves no array together with another."""
    (name,) = {d.name for d in shape.stage.dims} - {d.name for d in before.dims}
    used = (f for a in (*shape.reads, *shape.writes) for f in a.index if f is not None and name in f.names)
    return all(f.names == {name} for f in used)
