"""Whether the points that meet in one accumulator come in C's order, each later than all before it."""

from mdh.hardware import Layer
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.lower.nest import Nest
from mdh.lower.scope import Region


def in_order(nest: Nest, region: Region) -> bool:
    """The loops inside the region walk the reduction dims as C does, in each unit.

    A CPU's lanes do not count: each has accumulators of its own. The position of a point is a number with the
    loops' variables as digits; it grows from point to point if each digit weighs more than inner ones reach.
    """
    reach = 0
    for level in reversed(nest.items[region.opens :]):
        if not isinstance(level, Level) or (level.layer is Layer.VEC and nest.cpu):
            continue
        if nest.stage.dims[level.dim].kind is DimKind.CC:
            continue
        weight = _stride(nest, level.dim) * nest.levels.index[level.dim].coefficient(level.var)
        if weight <= reach:
            return False
        reach += weight * (level.parts - 1)
    return True


def _stride(nest: Nest, dim: int) -> int:
    """Points of the reduction that one step in `dim` passes over."""
    out = 1
    for d in nest.stage.dims[dim + 1 :]:
        if d.kind is not DimKind.CC:
            out *= d.extent
    return out
