"""Finds loops of the C around several stages whose iterations do not depend on one another, by isl.

Where a loop holds others that must run in turns, its stages have it as a dimension, and the turns are loops
of the program. If no iteration touches what another one writes, in any turns of any two of the stages, a unit
may run all of the turns for iterations of its own: it need not meet the others.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from mdh.ir.names import fresh
from mdh.ir.parallel_loop import ParallelLoop
from mdh.ir.program import Dim, DimKind, Program
from mdh.ir.turns import Turns
from mdh.poly.touching import Access, Accesses, Names
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


class _Seen(Accesses):
    """A program in which iterations of loops are asked whether they meet."""

    def meeting(self, dims: Mapping[str, str], turns: Container[str]) -> Meeting | None:
        numbers = [n for n, s in enumerate(self.program.stages) if s.name in dims]
        for k, m in enumerate(numbers):
            for n in numbers[k:]:
                found = self._between(m, n, dims, turns)
                if found is not None:
                    return found
        return None

    def _between(self, m: int, n: int, dims: Mapping[str, str], turns: Container[str]) -> Meeting | None:
        names = [s.name for s in self.program.stages]
        for a, b in self.pairs(self.program.stages[m], self.program.stages[n]):
            first, second = ((m, a), (n, b)) if a.write else ((n, b), (m, a))
            one, two = (names[k] for k, _ in (first, second))
            mine, other = dims[one], dims[two]
            if _pinned(first[1], mine, second[1], other):
                continue
            self.asked += 1
            if self.asked > MOST_ASKED:
                return Meeting(a.buffer, (one, 0), (two, 0))
            found = self.touching(first, second, lambda _, x: x.var in turns, _apart_in(mine, other))
            if found is not None:
                return Meeting(a.buffer, (one, found[0][mine]), (two, found[1][other]))
        return None


def _apart_in(mine: str, other: str) -> Callable[[Names, Names], list[str]]:
    """What says that two points are of different iterations."""
    return lambda one, two: [f"{one[mine]} != {two[other]}"]


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
