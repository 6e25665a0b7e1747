"""Points of two stages that touch one element: the question of all proofs about loops around stages.

This looks at the stages as they are lowered, and not at the text. A write that leaves the element as it was
is none for reads (`ir.domain`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import EVERYWHERE, Domain
from mdh.ir.domain import changed_where, guarded_loads, holding
from mdh.ir.expr import Expr, substitute
from mdh.ir.program import Program, Stage
from mdh.ir.turns import Turns
from mdh.poly.sets import affine_text, domain_text, least_pair

Names = Mapping[str, str]
"""What the dimensions of a point, and the turns around it, are called in a question to isl."""
Point = dict[str, int]


@dataclass(frozen=True, slots=True)
class Access:
    """index: None where it is data, so that it may be any element. domain: where a read matters, or where a
    write changes the element."""

    buffer: str
    index: tuple[Affine | None, ...]
    write: bool
    domain: Domain


class Accesses:
    """The accesses of a program's stages, each of which is looked at once. asked: the questions to isl."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.asked = 0
        self._known: dict[str, tuple[Access, ...]] = {}

    def of(self, stage: Stage) -> tuple[Access, ...]:
        if stage.name not in self._known:
            self._known[stage.name] = tuple(dict.fromkeys(_accesses(self.program, stage)))
        return self._known[stage.name]

    def pairs(self, s: Stage, t: Stage) -> Iterator[tuple[Access, Access]]:
        """Those of which one depends on the other where they touch one element."""
        for x in self.of(s):
            for y in self.of(t):
                if x.buffer == y.buffer and (x.write or y.write):
                    yield x, y

    def touching(
        self,
        first: tuple[int, Access],
        second: tuple[int, Access],
        own: Callable[[int, Turns], bool],
        where: Callable[[Names, Names], Sequence[str]],
    ) -> tuple[Point, Point] | None:
        """The least points of two stages, by number, that touch one element; None if there are none. own:
        whether the points may be in different turns of a loop around the stage. where: what else holds."""
        terms: list[str] = []
        shared: dict[str, str] = {}
        sides: list[dict[str, str]] = []
        for letter, (number, _) in zip("ab", (first, second), strict=True):
            ranges = {d.name: d.extent for d in self.program.stages[number].dims}
            for x in self.around(number):
                if own(number, x):
                    ranges[x.var] = x.trips
                else:
                    # a turn of a loop around is one for both
                    shared.setdefault(x.var, f"n{len(shared)}")
            names = {v: f"{letter}{k}" for k, v in enumerate(ranges)}
            terms += [f"0 <= {names[v]} < {extent}" for v, extent in ranges.items()]
            sides.append(names)
        trips = self.program.turns
        terms += [f"0 <= {name} < {trips[v]}" for v, name in shared.items()]
        one, two = ({**names, **shared} for names in sides)
        (_, x_), (_, y_) = first, second
        terms += [
            f"{affine_text(f, one)} = {affine_text(g, two)}"
            for f, g in zip(x_.index, y_.index, strict=True)
            if f is not None and g is not None
        ]
        if not (x_.write and y_.write):
            # what a write leaves as it was, a read may meet
            terms += [domain_text(x_.domain, one), domain_text(y_.domain, two)]
        terms += where(one, two)
        if shared:
            whole = " and ".join(f"({term})" for term in terms)
            terms = [f"exists {', '.join(shared.values())} : {whole}"]
        return least_pair(sides[0], sides[1], terms)

    def around(self, number: int) -> list[Turns]:
        """The loops of the program around a stage, the outermost first."""
        return [x for x in self.program.loops if x.first <= number <= x.last]


def never_meet(one: Sequence[Affine | None], other: Sequence[Affine | None]) -> bool:
    """Whether a subscript is one constant here and another one there."""
    return any(
        f is not None and g is not None and not f.terms and not g.terms and f.const != g.const
        for f, g in zip(one, other, strict=True)
    )


def _accesses(program: Program, stage: Stage) -> Iterator[Access]:
    ranges = {**program.turns, **{d.name: d.extent for d in stage.dims}}
    sizes = program.size_constants

    def index(e: Sequence[Expr]) -> tuple[Affine | None, ...]:
        functions = (from_expr(substitute(i, sizes)) for i in e)
        return tuple(f if f is not None and f.names <= ranges.keys() else None for f in functions)

    read: list[Expr] = [let.value for let in stage.lets]
    for r in stage.results:
        for o in r.outputs:
            yield Access(o.buffer, index(o.index), True, changed_where(r, o, ranges))
            read += [o.value, *o.index]
        read += [*r.values, *(s for s in r.starts if s is not None)]
    for e in read:
        for x, conds in guarded_loads(e):
            values = program.buffer_of[x.buffer].values
            if values is None:
                domain = holding(conds, ranges) if conds else EVERYWHERE
                yield Access(x.buffer, index(x.index), False, domain)
