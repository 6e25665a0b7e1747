"""Edges of the iteration space where open sizes put them: what is inside at every size, where loops end."""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.decompose.accesses import staged_groups
from mdh.hardware import Space
from mdh.ir.affine import Affine, to_expr
from mdh.ir.construct import add, div, less
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Const, Expr, Var, substitute
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Let
from mdh.ir.layout import Guard, Level
from mdh.ir.open_size import OpenExtent, corners
from mdh.lower.nest import Nest
from mdh.lower.scope import Key, Scope


@dataclass(frozen=True, slots=True)
class OpenEnds:
    """Of a loop's parts, how many lie inside as a whole, and how many begin inside: variables, which `lets`
    define."""

    lets: tuple[Let, ...]
    whole: Expr
    begun: Expr


def open_ends(nest: Nest, level: Level, scope: Scope, inner: frozenset[str]) -> OpenEnds | None:
    """Where a loop through a tile of an open dimension ends, on a CPU; None: no open size cuts it here.

    inner: the variables whose loops are still to come. All others must be known where the loop begins.
    """
    if not nest.cpu or level.cyclic:
        return None
    guard = next((g for g in nest.guards(scope, frozenset({level.dim})) if g.open is not None), None)
    if guard is None or guard.offset.coefficient(level.var) <= 0:
        return None
    return _ends(nest, guard, level, scope, inner)


def _ends(nest: Nest, guard: Guard, level: Level, scope: Scope, inner: frozenset[str]) -> OpenEnds | None:
    ranges, weight, reach = nest.ranges(scope), guard.offset.coefficient(level.var), 0
    known = Affine((), guard.offset.const)
    for name, c in guard.offset.terms:
        if name in inner:
            if c < 0:
                return None
            reach += c * ranges[name][1]
        elif name != level.var:
            known = known + Affine.var(name).scale(c)
    if reach == 0 and _holds_registers(nest, level, scope):
        return None
    assert guard.open is not None
    count = ranges[level.var][1] + 1
    room = substitute(to_expr(guard.open.form + known.scale(-1)), dict(scope.values))
    rest, whole, begun = (nest.fresh(f"{stem}_{level.var}") for stem in ("room", "whole", "begun"))
    # part p is whole if weight * p + reach < rest, and begins inside if weight * p < rest
    lets = (
        Let(rest, room),
        Let(whole, clamped(div(add(Var(rest), weight - 1 - reach), weight), count)),
        Let(begun, clamped(div(add(Var(rest), weight - 1), weight), count)),
    )
    if reach == 0:
        return OpenEnds((lets[0], lets[2]), Var(begun), Var(begun))
    return OpenEnds(lets, Var(whole), Var(begun))


def _holds_registers(nest: Nest, level: Level, scope: Scope) -> bool:
    """Whether the loop goes over registers, and so must be unrolled."""
    held = (r for r in nest.regions if r.space is Space.RM and r.opens <= scope.position)
    return any(level.var in r.loops for r in held)


@dataclass(frozen=True, slots=True)
class OpenPart:
    """Of one part of a loop: the conditions that it begins inside, and that it lies inside as a whole."""

    begun: Expr
    whole: Expr


def open_part(nest: Nest, level: Level, scope: Scope, inner: frozenset[str]) -> OpenPart | None:
    """The conditions on the parts of a loop through a tile of an open dimension, on a CPU; None: no open size
    cuts it here. inner: the variables whose loops are still to come."""
    if not nest.cpu:
        return None
    guard = next((g for g in nest.guards(scope, frozenset({level.dim})) if g.open is not None), None)
    if guard is None or guard.offset.coefficient(level.var) <= 0:
        return None
    assert guard.open is not None
    start, reach, ranges = Affine((), guard.offset.const), 0, nest.ranges(scope)
    for name, c in guard.offset.terms:
        if name in inner and c < 0:
            return None
        if name in inner:
            reach += c * ranges[name][1]
        else:
            start = start + Affine.var(name).scale(c)
    bound = guard.open.expr
    first, last = (nest.expr(f, scope) for f in (start, start.shift(reach)))
    return OpenPart(less(first, bound), less(last, bound))


def clamped(e: Expr, most: int) -> Expr:
    """Between 0 and `most`. Quotients below 0, which C rounds up, become 0."""
    return Call(Intrinsic.IMAX, (Const(0, I32), Call(Intrinsic.IMIN, (Const(most, I32), e), I32)), I32)


def within_open(nest: Nest, low: Affine, reach: int, extent: OpenExtent, scope: Scope) -> bool:
    """Whether the elements from `low` to `low + reach` lie below the extent.

    In a scope of full parts, `tile * var <= size - tile` for the variable of an open level. So the greatest
    element is an affine function of the sizes, and below the extent everywhere if it is at the corners of
    their ranges.
    """
    return all(
        _highest(nest, low, scope, sizes) + reach < extent.at(sizes) for sizes in corners(nest.program.opens)
    )


def all_exist(nest: Nest, key: Key, axis: int, extent: OpenExtent, scope: Scope) -> bool:
    """Whether a copy for the accesses of this key reads below the extent, along an axis of the array, since
    every point that it serves exists, and the program's accesses stay inside.

    A dimension in which a guard is left counts with the largest index of its levels.
    """
    buffer, linear = key
    shifts = [
        group.shifts for group in staged_groups(nest.program, nest.stage, buffer) if group.linear == linear
    ]
    for sizes in corners(nest.program.opens):
        high = max((shift[axis] for shift in shifts[0]), default=0) if shifts else None
        for name, c in linear[axis].terms if high is not None else ():
            most = _largest(nest, scope, name, sizes)
            high = high + c * most if high is not None and c > 0 else high
        if high is None or high >= extent.at(sizes):
            return False
    return True


def _largest(nest: Nest, scope: Scope, name: str, sizes: Mapping[str, int]) -> int:
    """The largest index of a dimension, which is named by position, or turn of a loop around the stage."""
    ranges = nest.ranges(scope)
    if not name.isdecimal():
        return ranges[name][1]
    d = int(name)
    known = nest.stage.dims[d].open
    if known is not None and not nest.guards(scope, frozenset({d})):
        return known.at(sizes) - 1
    return nest.levels.index[d].bounds(ranges)[1]


def _highest(nest: Nest, low: Affine, scope: Scope, sizes: Mapping[str, int]) -> int:
    """The greatest value of `low`, at these sizes. Where no part is full, it is what the sizes' function
    gives; no code runs there."""
    ranges = nest.ranges(scope)
    opened = {lv.var: lv for lv in nest.levels.all if lv.open is not None and lv.var in scope.full}
    out = low.const
    for name, c in low.terms:
        level = opened.get(name)
        if level is not None and c > 0 and c % level.tile == 0:
            out += c // level.tile * _last_start(level, sizes)
        else:
            least, most = ranges[name]
            out += max(c * least, c * most)
    return out


def _last_start(level: Level, sizes: Mapping[str, int]) -> int:
    """Where the last full part may begin."""
    assert level.open is not None
    return level.open.at(sizes) - level.tile
