"""Finds loops of the C around several stages whose iterations do not depend on one another, by isl.

Where a loop holds others that must run in turns, its stages have it as a dimension, and the turns are loops
of the program. If no iteration touches what another one writes, in any turns of any two of the stages, a unit
may run all of the turns for iterations of its own: it need not meet the others.

This looks at the stages as they are lowered, and not at the text. A write that leaves the element as it was
is none for reads (`ir.domain`).
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import EVERYWHERE, Domain
from mdh.ir.domain import changed_where, guarded_loads, holding
from mdh.ir.expr import Expr, substitute
from mdh.ir.names import fresh
from mdh.ir.parallel_loop import ParallelLoop
from mdh.ir.program import Dim, DimKind, Program, Stage
from mdh.ir.turns import Turns
from mdh.poly.sets import affine_text, domain_text, least_pair
from mdh.source import Span

MOST_STAGES = 24
"""Stages of a loop that are looked at: each pair of them is asked."""
MOST_ASKED = 600
"""Pairs of accesses that isl is asked about; those after them count as if they met."""
Place = tuple[Span | None, int, int, int]
"""Where a loop stands in the C, and what its variable runs over."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two iterations that touch one element of `buffer`, which the first one writes, by their numbers, and
    the stages in which they do."""

    buffer: str
    first: tuple[str, int]
    second: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Access:
    """index: None where it is data, so that it may be any element. domain: where a read matters, or where a
    write changes the element."""

    buffer: str
    index: tuple[Affine | None, ...]
    write: bool
    domain: Domain


def parallel_loops(program: Program) -> tuple[ParallelLoop, ...]:
    """The loops of a program, in the order of its stages; none around another one, nor around stages with
    open extents."""
    if program.opens:
        return ()
    found: list[_Range] = []
    seen = _Seen(program)
    for x in program.loops:
        if not any(f.first <= x.last and x.first <= f.last for f in found):
            found += _found(seen, x)
    names = set[str]()
    return tuple(
        ParallelLoop(
            fresh(f.counter, names), f.counter, f.dim.extent, tuple(f.dims), tuple(f.dims.values()),
            f.turns, f.dim.span,
        )
        for f in sorted(found, key=lambda f: f.first)
    )  # fmt: skip


def meeting(program: Program, dims: Mapping[str, str], turns: Container[str]) -> Meeting | None:
    """Two iterations of a loop of which one depends on the other; None if there are none. dims: of each of
    the loop's stages, the dimension that the loop is. turns: the loops of the program in it."""
    return _Seen(program).meeting(dims, turns)


@dataclass(frozen=True, slots=True)
class _Range:
    """Stages number `first` to `last` in a loop. dim: that of the first one. dims, turns: as in
    ParallelLoop."""

    first: int
    last: int
    dim: Dim
    dims: dict[str, str]
    turns: frozenset[str]

    @property
    def counter(self) -> str:
        """What the text calls the loop's variable. In a stage its name may be another one."""
        text = "" if self.dim.span is None else self.dim.span.text
        return text if text.isidentifier() else self.dim.name


class _Seen:
    """A program with the accesses of its stages, which are looked at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.number = {s.name: n for n, s in enumerate(program.stages)}
        self._known: dict[str, tuple[Access, ...]] = {}
        self._asked = 0

    def accesses(self, stage: Stage) -> tuple[Access, ...]:
        if stage.name not in self._known:
            self._known[stage.name] = tuple(dict.fromkeys(accesses_of(self.program, stage)))
        return self._known[stage.name]

    def meeting(self, dims: Mapping[str, str], turns: Container[str]) -> Meeting | None:
        stages = [self.program.stages[self.number[name]] for name in dims]
        for n, s in enumerate(stages):
            for t in stages[n:]:
                found = self._between(s, t, dims, turns)
                if found is not None:
                    return found
        return None

    def _between(self, s: Stage, t: Stage, dims: Mapping[str, str], turns: Container[str]) -> Meeting | None:
        for a in self.accesses(s):
            for b in self.accesses(t):
                if a.buffer != b.buffer or not (a.write or b.write):
                    continue
                (one, x), (two, y) = ((s, a), (t, b)) if a.write else ((t, b), (s, a))
                if _pinned(x, dims[one.name], y, dims[two.name]):
                    continue
                self._asked += 1
                many = self._asked > MOST_ASKED
                found = (0, 0) if many else self._solved((one, x), (two, y), dims, turns)
                if found is not None:
                    return Meeting(a.buffer, (one.name, found[0]), (two.name, found[1]))
        return None

    def _solved(
        self, first: tuple[Stage, Access], second: tuple[Stage, Access], dims: Mapping[str, str],
        turns: Container[str],
    ) -> tuple[int, int] | None:  # fmt: skip
        """Numbers of two iterations that touch one element; None if there are none."""
        terms: list[str] = []
        shared: dict[str, str] = {}
        sides: dict[str, dict[str, str]] = {}
        for letter, (stage, _) in zip("ab", (first, second), strict=True):
            ranges = {d.name: d.extent for d in stage.dims}
            n = self.number[stage.name]
            for x in (x for x in self.program.loops if x.first <= n <= x.last):
                if x.var in turns:
                    ranges[x.var] = x.trips
                else:
                    # a turn of a loop around is one for both
                    shared.setdefault(x.var, f"n{len(shared)}")
            names = {v: f"{letter}{k}" for k, v in enumerate(ranges)}
            terms += [f"0 <= {names[v]} < {extent}" for v, extent in ranges.items()]
            sides[letter] = names
        trips = self.program.turns
        terms += [f"0 <= {name} < {trips[v]}" for v, name in shared.items()]
        one, two = ({**names, **shared} for names in sides.values())
        (s, x_), (t, y_) = first, second
        terms += [
            f"{affine_text(f, one)} = {affine_text(g, two)}"
            for f, g in zip(x_.index, y_.index, strict=True)
            if f is not None and g is not None
        ]
        if not y_.write:
            # what a write leaves as it was, a read may meet
            terms += [domain_text(x_.domain, one), domain_text(y_.domain, two)]
        mine, other = dims[s.name], dims[t.name]
        terms.append(f"{one[mine]} != {two[other]}")
        if shared:
            whole = " and ".join(f"({term})" for term in terms)
            terms = [f"exists {', '.join(shared.values())} : {whole}"]
        found = least_pair(sides["a"], sides["b"], terms)
        return None if found is None else (found[0][mine], found[1][other])


def accesses_of(program: Program, stage: Stage) -> Iterator[Access]:
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


def _pinned(x: Access, mine: str, y: Access, other: str) -> bool:
    """Whether both accesses have a subscript that says the iteration, so that it is one where they meet."""
    return any(
        f is not None
        and g is not None
        and f.const == g.const
        and len(f.terms) == len(g.terms) == 1
        and (f.coefficient(mine), g.coefficient(other)) == (f.terms[0][1], g.terms[0][1])
        and f.terms[0][1] == g.terms[0][1]
        for f, g in zip(x.index, y.index, strict=True)
    )


def _found(seen: _Seen, x: Turns) -> list[_Range]:
    """The loop around the stages of some turns, and around others beside them that are in it; empty if there
    is none."""
    stages, loops = seen.program.stages, seen.program.loops
    if x.last - x.first >= MOST_STAGES:
        return []
    outer = [y for y in loops[: loops.index(x)] if y.first <= x.first and x.last <= y.last]
    inner = [y for y in loops if y not in outer]
    for dim in stages[x.first].dims:
        found = _range(seen, dim, x.first, x.last, inner)
        if found is not None and dim.extent > 1:
            low = max((y.first for y in outer), default=0)
            high = min((y.last for y in outer), default=len(stages) - 1)
            return [_grown(seen, found, low, high, inner)]
    return []


def _range(seen: _Seen, dim: Dim, first: int, last: int, inner: Sequence[Turns]) -> _Range | None:
    """The stages in the loop that the dimension is; None if it is no dimension of all, or if an iteration
    depends on another one. inner: loops of the program that may be in it."""
    if last - first >= MOST_STAGES:
        return None
    dims: dict[str, str] = {}
    for s in seen.program.stages[first : last + 1]:
        mine = next((d for d in s.dims if d.kind is DimKind.CC and _place(d) == _place(dim)), None)
        if mine is None or mine.span is None or mine.open is not None:
            return None
        dims[s.name] = mine.name
    turns = frozenset(y.var for y in inner if first <= y.first and y.last <= last)
    return None if seen.meeting(dims, turns) is not None else _Range(first, last, dim, dims, turns)


def _place(dim: Dim) -> Place:
    return dim.span, dim.extent, dim.start, dim.step


def _grown(seen: _Seen, found: _Range, low: int, high: int, inner: Sequence[Turns]) -> _Range:
    """The range with the stages beside it that are in the loop, from number `low` to `high`."""
    while True:
        first = min((y.first for y in inner if y.last == found.first - 1), default=found.first - 1)
        last = max((y.last for y in inner if y.first == found.last + 1), default=found.last + 1)
        more = [(found.first, last)] if last <= high else []
        more += [(first, found.last)] if low <= first else []
        tried = (_range(seen, found.dim, a, b, inner) for a, b in more)
        grown = next((x for x in tried if x is not None), None)
        if grown is None:
            return found
        found = grown
