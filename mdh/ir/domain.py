"""Where the points of a stage change anything, if its bounds or conditions are affine.

A stage is a box of points. Conditions choose some of them: `for (j = 0; j <= i; j++)` is a box in which the
sum takes `j <= i ? x : 0`. The values say so, and mean the same everywhere. This module reads the affine
conditions off them, so that code can leave out the other points.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.ir.affine import Affine, holds_all
from mdh.ir.clauses import EVERYWHERE, Domain, clauses_of, exact_clauses
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Select, Unary, Var, children, without_casts
from mdh.ir.program import Condition, DimKind, Output, Result, Stage, combined_where

MOST_CONSTRAINTS = 8
"""Ends of loops and conditions are made of all constraints. So a stage with more has no domain."""
Constraints = frozenset[Affine]
"""Functions of dimensions by name; all are >= 0 in the domain."""


@dataclass(frozen=True, slots=True)
class StageDomain:
    """points: outside of them no point changes what a result has combined. results: those among them that are
    functions of kept dimensions, and outside of which no output changes. inside: what the stage computes
    where all of `points` hold."""

    points: Constraints
    results: Constraints
    inside: Stage


def domain_of(stage: Stage, turns: Mapping[str, int] = {}) -> StageDomain | None:
    """None if every point may change something, as far as is known.

    turns: the number of turns of each loop around the stage, by its variable. The variable is the same for
    all points, and may stand in constraints.
    """
    ranges = {**{d.name: d.extent for d in stage.dims}, **turns}
    kept = {*(d.name for d in stage.dims if d.kind is not DimKind.PW), *turns}
    each = [_changes(r, ranges) for r in stage.results]
    if not each or stage.lets or stage.host is not None:
        # in each turn of a host other stages are computed, too
        return None
    points = frozenset.intersection(*each)
    if not 0 < len(points) <= MOST_CONSTRAINTS:
        return None
    over_kept = frozenset(f for f in points if f.names <= kept)
    stored = frozenset(f for f in over_kept if all(_kept_by(r, f, ranges) for r in stage.results))
    inside = tuple(_assuming(r, points, ranges) for r in stage.results)
    return StageDomain(points, stored, replace(stage, results=inside))


def _changes(r: Result, ranges: dict[str, int]) -> Constraints:
    """The constraints under which a result's value changes its state."""
    if r.op is None:
        o = r.outputs[0]
        return (
            _constraints(_unlike(r.values[0], o), ranges)
            if len(r.outputs) == 1 and _passes(o)
            else frozenset()
        )
    return _constraints(combined_where(r.values[0], r.op, r.types[0])[0], ranges)


def _kept_by(r: Result, f: Affine, ranges: dict[str, int]) -> bool:
    """Whether all outputs stay as they are where f < 0, if no value joins the state there."""
    if r.op is None:
        return True
    own, *others = r.outputs
    start = r.starts[0]
    starts = start is not None and len(r.starts) == 1 and _same(start, own, f, ranges)
    return starts and _passes(own) and all(f in _constraints(_unlike(o.value, o), ranges) for o in others)


def _same(e: Expr, o: Output, f: Affine, ranges: dict[str, int]) -> bool:
    """Whether `e` is the old element of `o` where f < 0."""
    if _is_own(e, o):
        return True
    return f in _constraints(_unlike(e, o), ranges)


def _unlike(e: Expr, o: Output, back: DType | None = None) -> tuple[Condition, ...]:
    """Conditions under which `e` is anything but the element of `o` as it was. back: the type that `e` is
    converted to."""
    return changing(e, o, back)[0]


def changing(e: Expr, o: Output, back: DType | None = None) -> tuple[tuple[Condition, ...], Expr]:
    """Conditions under which `e` is anything but the element of `o` as it was, and `e` where they hold. back:
    the type that `e` is converted to."""
    match e:
        case Cast(arg, dtype):
            conds, inner = changing(arg, o, back if _widens(e) else dtype)
            return conds, replace(e, arg=inner) if conds else e
        case Select(cond, then, other) if _is_own(other, o, back):
            conds, inner = changing(then, o, back)
            return ((cond, True), *conds), inner
        case Select(cond, then, other) if _is_own(then, o, back):
            conds, inner = changing(other, o, back)
            return ((cond, False), *conds), inner
        case _:
            return (), e


def _is_own(e: Expr, o: Output, back: DType | None = None) -> bool:
    """Whether `e`, converted to `back`, is the element of `o`. A conversion to a wider type and back changes
    nothing."""
    while isinstance(e, Cast) and _widens(e):
        e = e.arg
    own = isinstance(e, Load) and e.buffer == o.buffer and e.index == o.index
    return own and back in (None, e.dtype)


def _widens(e: Cast) -> bool:
    """Whether the cast keeps every value, so that a cast back gives what there was."""
    old, new = e.arg.dtype, e.dtype
    if new.is_float and old.is_float:
        return new.bits > old.bits
    return holds_all(new, old)


def _passes(o: Output) -> bool:
    """Whether the output is the state as it is."""
    return isinstance(without_casts(o.value), Var)


def with_live_starts(stage: Stage) -> Stage:
    """The stage without what sums start from where no output changes. `c ? 0 : s` is 0 if only results under
    `c` are stored. Such an `s` would be an array that nothing else needs."""
    ranges = {d.name: d.extent for d in stage.dims}
    return replace(stage, results=tuple(_with_live_start(r, ranges) for r in stage.results))


def _with_live_start(r: Result, ranges: dict[str, int]) -> Result:
    if r.op is None or len(r.starts) != 1 or not isinstance(r.starts[0], Select):
        return r
    start = r.starts[0]
    chosen = _constraints([(start.cond, True)], ranges)
    parts = list(_conjuncts((start.cond, True)))
    whole = all(_affine(p, ranges) for p in parts)
    stored = [_constraints(_unlike(o.value, o), ranges) for o in r.outputs]
    if not chosen or not whole or not all(chosen <= s for s in stored):
        return r
    then = start.then
    plain = isinstance(then, Const) and r.op.identity(then.dtype) == then
    return replace(r, starts=(None if plain else then,))


def changed_where(r: Result, o: Output, ranges: dict[str, int]) -> Domain:
    """A domain outside of which output `o` of the result stays as it is."""
    epilogue = _unlike(o.value, o)
    if epilogue:
        return holding(epilogue, ranges)
    if not _passes(o):
        return EVERYWHERE
    if r.op is None:
        return holding(_unlike(r.values[0], o), ranges)
    start, joins = r.starts[0], combined_where(r.values[0], r.op, r.types[0])[0]
    if start is None or len(r.starts) > 1 or not joins:
        return EVERYWHERE
    begins = () if _is_own(start, o) else holding(_unlike(start, o), ranges)
    return (*holding(joins, ranges), *begins)


def guarded_loads(e: Expr, conds: tuple[Condition, ...] = ()) -> Iterator[tuple[Load, tuple[Condition, ...]]]:
    """Every load of an expression, with the conditions under which its value matters."""
    match e:
        case Select(cond, then, other):
            yield from guarded_loads(cond, conds)
            yield from guarded_loads(then, (*conds, (cond, True)))
            yield from guarded_loads(other, (*conds, (cond, False)))
        case Binary("&&" | "||", left, right):
            yield from guarded_loads(left, conds)
            yield from guarded_loads(right, (*conds, (left, e.op == "&&")))
        case Load():
            yield e, conds
            for i in e.index:
                yield from guarded_loads(i, conds)
        case _:
            for c in children(e):
                yield from guarded_loads(c, conds)


def holding(conds: Sequence[Condition], ranges: dict[str, int]) -> Domain:
    """Where all of the conditions hold, as far as they are affine."""
    return clauses_of(tuple(c if holds else Unary("!", c, I32) for c, holds in conds), ranges)


def _constraints(conds: Sequence[Condition], ranges: dict[str, int]) -> Constraints:
    return frozenset(f for c in conds for part in _conjuncts(c) for f in _affine(part, ranges))


def _conjuncts(c: Condition) -> Iterator[Condition]:
    match c:
        case (Binary("&&", left, right), True):
            yield from _conjuncts((left, True))
            yield from _conjuncts((right, True))
        case (Unary("!", arg), holds):
            yield from _conjuncts((arg, not holds))
        case _:
            yield c


def _affine(c: Condition, ranges: dict[str, int]) -> tuple[Affine, ...]:
    """The functions that are >= 0 exactly where the condition holds; empty if it is not of that form."""
    cond, holds = c
    found = exact_clauses((cond if holds else Unary("!", cond, I32),), ranges)
    if found is None or len(found) != 1 or any(not f.names <= ranges.keys() for f in found[0]):
        return ()
    return found[0]


def _assuming(r: Result, known: Constraints, ranges: dict[str, int]) -> Result:
    """The result where all of `known` hold: conditions that they imply are gone."""

    def plain(e: Expr) -> Expr:
        match e:
            case Cast(arg):
                return replace(e, arg=plain(arg))
            case Select(cond, then, other):
                for side, away, holds in ((then, other, True), (other, then, False)):
                    parts = list(_conjuncts((cond, holds)))
                    left = [p for p in parts if not _implied(p, known, ranges)]
                    if len(left) < len(parts):
                        return _select(left, plain(side), away, e)
                return e
            case _:
                return e

    values = (plain(r.values[0]), *r.values[1:])
    starts = tuple(None if s is None else plain(s) for s in r.starts)
    return replace(r, values=values, starts=starts)


def _implied(c: Condition, known: Constraints, ranges: dict[str, int]) -> bool:
    found = _affine(c, ranges)
    return bool(found) and known.issuperset(found)


def _select(conds: Sequence[Condition], then: Expr, other: Expr, old: Select) -> Expr:
    """`then` where all of `conds` hold, else `other`."""
    for cond, holds in reversed(conds):
        then = replace(old, cond=cond, then=then, other=other) if holds else replace(
            old, cond=cond, then=other, other=then)  # fmt: skip
    return then
