"""Proves by isl that the points of a stage do not touch one another's elements, or finds two points.

A point is an iteration of the dimensions that are not reduced. Points of a stage run in parallel, in any
order, and so do all results of the stage. So no point may write what another one reads or writes, and no
result may write what another one does. Units may share the terms of a point, so no term may read what another
one adds to. A term may read the element that it alone adds to: it is there as it was before. This checks the
stage alone, by its expressions as they are lowered, wherever they come from. A write that leaves the element
as it was is none for reads (`ir.domain`).
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import EVERYWHERE, Domain
from mdh.ir.domain import changed_where, guarded_loads, holding
from mdh.ir.expr import Load, without_casts
from mdh.ir.program import DimKind, Result, Stage
from mdh.poly.sets import Point, affine_text, domain_text, least_pair


@dataclass(frozen=True, slots=True)
class Race:
    """The output of one point is what another point reads or writes. Points are given by dimension name."""

    buffer: str
    writes: Point
    touches: Point
    write: bool


@dataclass(frozen=True, slots=True)
class _Touch:
    """An access of result number `result`: of each iteration, or (`start`) of each chain of prefixes.

    shared: several units make it for one point, as when they read the terms of a reduction. domain: where a
    read matters, or where a write changes the element.
    """

    result: int
    buffer: str
    index: tuple[Affine | None, ...]
    write: bool
    start: bool = False
    shared: bool = False
    domain: Domain = EVERYWHERE


def races(stage: Stage, turns: Mapping[str, int], held: Container[str] = ()) -> Iterator[Race]:
    """Every pair of accesses that touch the same element in different points or results, with one example.

    turns: how often the loops around stages run. held: outputs that are stored from a region, with the
    elements that keep their values.
    """
    reduced = any(d.kind is DimKind.PW for d in stage.dims)
    ranges = {**turns, **{d.name: d.extent for d in stage.dims}}
    touches = [t for n, r in enumerate(stage.results) for t in _touches(n, r, ranges, held, reduced=reduced)]
    for w in (t for t in touches if t.write):
        for t in touches:
            if t.buffer != w.buffer or (stage.scattered and (t.write or t.start)):
                # a histogram combines all values of one element
                continue
            found = _meeting(stage, turns, w, t)
            if found is not None:
                yield Race(w.buffer, found[0], found[1], t.write)


def _touches(
    number: int, r: Result, ranges: dict[str, int], held: Container[str], *, reduced: bool
) -> Iterator[_Touch]:
    for o in r.outputs:
        domain = EVERYWHERE if r.op is None and o.buffer in held else changed_where(r, o, ranges)
        yield _Touch(number, o.buffer, tuple(map(from_expr, o.index)), True, domain=domain)
    reads = [(start, True, False) for start in r.starts if start is not None]
    reads += [(e, False, reduced and r.op is not None) for e in r.values]
    reads += [(e, False, False) for o in r.outputs for e in (o.value, *o.index)]
    for e, start, shared in reads:
        for x, conds in guarded_loads(e):
            index = tuple(map(from_expr, x.index))
            yield _Touch(number, x.buffer, index, False, start, shared, holding(conds, ranges))


def _meeting(stage: Stage, turns: Mapping[str, int], w: _Touch, t: _Touch) -> tuple[Point, Point] | None:
    """A point that writes, and another point, or one of another result, that touches the same element; None
    if there is none."""
    # any point may read the start of a prefix sum, and a histogram has no points
    scanned = any(d.kind is DimKind.PS for d in stage.dims)
    apart = w.result != t.result or stage.scattered
    if apart or (scanned and (t.start or t.shared)) or (t.shared and not _in_place(stage.results[t.result])):
        return _solved(stage, turns, w, t, None)
    kept = [d.name for d in stage.dims if t.shared or d.kind is not DimKind.PW]
    return None if all(_pinned(name, w, t) for name in kept) else _solved(stage, turns, w, t, kept)


def _in_place(r: Result) -> bool:
    """Whether the result is combined with what its elements hold, so that nothing is stored before."""
    if len(r.starts) != len(r.outputs):
        return False
    held = [(None if s is None else without_casts(s), o) for s, o in zip(r.starts, r.outputs, strict=True)]
    return all(isinstance(s, Load) and (s.buffer, s.index) == (o.buffer, o.index) for s, o in held)


def _pinned(name: str, w: _Touch, t: _Touch) -> bool:
    """Whether both accesses have a subscript that is `name` alone, so that it is equal where they meet."""
    pairs = zip(w.index, t.index, strict=True)
    return any(f is not None and f == g and [n for n, _ in f.terms] == [name] for f, g in pairs)


def _solved(
    stage: Stage, trips: Mapping[str, int], w: _Touch, t: _Touch, kept: list[str] | None
) -> tuple[Point, Point] | None:
    """Iterations that touch one element and differ in a dimension of `kept`; None: any iterations."""
    names = [d.name for d in stage.dims]
    first, second = ({n: f"{x}{k}" for k, n in enumerate(names)} for x in "ab")
    # the numbers of turns, which are the same for all points
    used = [f for x in (w, t) for f in (*x.index, *(f for c in x.domain for f in c)) if f is not None]
    turns = {n: f"n{k}" for k, n in enumerate(sorted({n for f in used for n in f.names} - set(names)))}
    one, other = {**first, **turns}, {**second, **turns}
    terms = [f"0 <= {v[d.name]} < {d.extent}" for v in (first, second) for d in stage.dims]
    terms += [f"0 <= {turns[n]} < {trips[n]}" for n in turns if n in trips]
    terms += [
        f"{affine_text(f, one)} = {affine_text(g, other)}"
        for f, g in zip(w.index, t.index, strict=True)
        if f is not None and g is not None
    ]
    if not t.write:
        # what a write leaves as it was, a read may meet
        terms += [domain_text(w.domain, one), domain_text(t.domain, other)]
    if kept is not None:
        terms.append(" or ".join(f"{first[n]} != {second[n]}" for n in kept) or "1 = 0")
    if turns:
        whole = " and ".join(f"({x})" for x in terms)
        terms = [f"exists {', '.join(turns.values())} : {whole}"]
    return least_pair(first, second, terms)
