"""Loops through a tile that the edge of the iteration space cuts: they end where the points end.

On CPUs everywhere: there a guard in the innermost loop costs more than the work. GPUs keep trip counts
uniform. So there only loops over the part of a sum that a block with the last part has.
"""

from dataclasses import dataclass

from mdh.ir.layout import Guard, Level
from mdh.ir.program import DimKind
from mdh.lower.nest import Nest
from mdh.lower.scope import Scope


@dataclass(frozen=True, slots=True)
class TripCounts:
    """Of a loop's parts, how many lie inside as a whole, and how many begin inside: at most one more."""

    whole: int
    begun: int


def trip_counts(nest: Nest, level: Level, scope: Scope, inner: frozenset[str]) -> TripCounts | None:
    """Where the loop over `level` ends at this scope; None: nothing cuts it, the cut varies, or threads keep
    the loop whole.

    inner: the variables whose loops are still to come. A guard counts if all its other variables are known.
    """
    if not nest.cpu and not _in_last_part(nest, level, scope):
        return None
    ranges = nest.ranges(scope)
    count = ranges[level.var][1] + 1
    whole = begun = count
    for guard in nest.guards(scope):
        weight = guard.offset.coefficient(level.var)
        if guard.dim != level.dim or weight <= 0 or guard.open is not None:
            continue
        room = _room(guard, level, ranges, inner)
        if room is not None:
            space, reach = room
            whole = min(whole, max(0, (space - reach) // weight + 1))
            begun = min(begun, max(0, space // weight + 1))
    if (whole, begun) == (count, count) or begun == 0 or begun - whole > 1:
        return None
    return TripCounts(whole, begun)


def _in_last_part(nest: Nest, level: Level, scope: Scope) -> bool:
    blocks = (lv for lv in nest.grid_levels(DimKind.PW) if lv.dim == level.dim)
    return level.layer is None and any(lv.var in scope.fixed for lv in blocks)


def _room(
    guard: Guard, level: Level, ranges: dict[str, tuple[int, int]], inner: frozenset[str]
) -> tuple[int, int] | None:
    """(what the level's and the inner loops may add to the offset, what the inner ones add at most)."""
    space, reach = guard.bound - 1 - guard.offset.const, 0
    for name, weight in guard.offset.terms:
        if name == level.var:
            continue
        low, high = ranges[name]
        if name in inner and weight > 0:
            reach += weight * high
        elif low == high:
            space -= weight * low
        else:
            return None
    return space, reach
