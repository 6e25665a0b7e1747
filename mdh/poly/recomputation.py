"""Whether points of an inline stage are computed more often than once."""

from dataclasses import dataclass

from mdh.ir.domain import holding
from mdh.ir.inlining import InlineStage, Read
from mdh.ir.program import Stage
from mdh.poly.sets import Point, affine_text, domain_text, least_point


@dataclass(frozen=True, slots=True)
class Twice:
    """A point of an inline stage that is computed twice. point: by dimension; empty if data choose it."""

    why: str
    point: Point
    witness: tuple[tuple[str, object], ...]


def computed_twice(stage: Stage, one: InlineStage) -> Twice | None:
    """None if each point of the stage is computed at most once. Equal loads at one point of a reader are one
    computation, which compilers make once."""
    if one.kept:
        why = f"is computed by the stage's own kernel, and by stage `{one.readers[0]}`"
        return Twice(why, {d.name: 0 for d in stage.dims}, (("kernel", one.name), ("reader", one.readers[0])))
    reads = list(one.distinct)
    if again := next((r for r in reads if r.turns > 1), None):
        why = f"is computed in each of {again.turns} turns by stage `{again.reader}`"
        return Twice(why, {d.name: 0 for d in stage.dims}, (("reader", again.reader), ("turns", again.turns)))
    for k, first in enumerate(reads):
        for second in reads[k:]:
            if not (first.place.affine and second.place.affine):
                return Twice(f"data choose what stage `{second.reader}` computes", {}, ())
            found = _same_point(stage, first, second)
            if found is not None:
                point, at, then = found
                why = f"is computed for {_spelled(first, at)} and for {_spelled(second, then)}"
                return Twice(why, point, (("point", point), ("first", at), ("second", then)))
    return None


def _spelled(read: Read, at: Point) -> str:
    return (
        f"point ({', '.join(f'{d.name} = {d.at(at[d.name])}' for d in read.dims)}) of stage `{read.reader}`"
    )


def _same_point(stage: Stage, first: Read, second: Read) -> tuple[Point, Point, Point] | None:
    """A point that both reads need, or the same read twice, and the points of their readers."""
    one = {d.name: f"a{k}" for k, d in enumerate(first.dims)}
    two = {d.name: f"b{k}" for k, d in enumerate(second.dims)}
    point = {d.name: f"p{k}" for k, d in enumerate(stage.dims)}
    # the numbers of turns, which are the same for both
    used = {n for r in (first, second) for f in r.place.functions.values() for n in f.names}
    turns = {n: f"n{k}" for k, n in enumerate(sorted(used - one.keys() - two.keys()))}
    terms = [f"0 <= {point[d.name]} < {d.extent}" for d in stage.dims]
    for names, read in ((one, first), (two, second)):
        terms += [f"0 <= {names[d.name]} < {d.extent}" for d in read.dims]
        every = {**names, **turns}
        terms += [f"{point[n]} = {affine_text(f, every)}" for n, f in read.place.functions.items()]
        extents = {d.name: d.extent for d in read.dims}
        terms.append(domain_text(holding((*read.conds, *read.place.terms), extents), every))
    if first is second:
        terms.append(" or ".join(f"{one[n]} != {two[n]}" for n in one) or "1 = 0")
    space = ", ".join((*point.values(), *one.values(), *two.values(), *turns.values()))
    found = least_point(f"{{ [{space}] : {' and '.join(f'({t})' for t in terms)} }}")
    if found is None:
        return None
    values = iter(found)
    at, a, b = ({n: next(values) for n in names} for names in (point, one, two))
    return at, a, b
