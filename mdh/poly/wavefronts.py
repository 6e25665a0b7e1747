"""Finds pairs of loops that may run as wavefronts (`ir.wavefronts`), by isl.

Two iterations of which one depends on the other keep their order if the later one has a later time. In one
turn of the outer loop it may have the same time: one unit runs all of a turn, in the order of the text. In
different turns it may not: other units may run these at the same time, or one unit side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mdh.ir.names import fresh
from mdh.ir.program import Dim, DimKind, Program
from mdh.ir.turns import Turns
from mdh.ir.wavefronts import Rows, Wavefronts
from mdh.poly.sets import affine_text
from mdh.poly.touching import Access, Accesses, Names, never_meet

MOST_FACTOR, MOST_SHIFT = 8, 4
"""Factors and shifts that are tried. With more, nearly all times of a band begin or end it."""
MOST_STAGES = 12
"""Stages of a loop that are looked at: each pair of them is asked, for each shift and factor."""
MOST_ASKED = 2000
"""Questions to isl; those after them count as if iterations met."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two iterations that touch one element of `buffer`, of which the first one in the text does not run
    before the second one. Each is a stage with the numbers of its turn and of its iteration; `times` says
    when they run."""

    buffer: str
    stages: tuple[str, str]
    first: tuple[int, int]
    second: tuple[int, int]
    times: tuple[int, int]


def wavefronts(program: Program) -> tuple[Wavefronts, ...]:
    """The pairs of loops of a program, in the order of its stages; none around stages with open extents."""
    if program.opens:
        return ()
    seen, found = _Crossings(program), list[Wavefronts]()
    for x in program.loops:
        if not any(f.first <= x.last and x.first <= f.last for f in found):
            found += _found(seen, x)
    names = set[str]()
    ordered = sorted(found, key=lambda f: f.first)
    return tuple(replace(f, name=fresh(f.counters[0], names)) for f in ordered)


def strips_of(program: Program, w: Wavefronts, counter: str, factor: int | None = None) -> Wavefronts | None:
    """The loops of another counter in the stages of wavefronts, as dimensions, with the least factor and
    shifts for which no dependence goes back; None if small ones do not do. factor: another one."""
    seen = _Crossings(program, strict=False)
    outer = next(x for x in program.loops if x.var == w.outer)
    rows = _rows(seen.program, outer, counter, dims=True)
    alike = rows is not None and [(r.first, r.last) for r in rows] == [(r.first, r.last) for r in w.rows]
    if rows is None or not alike or counter == w.counters[1]:
        return None
    tried = Wavefronts(w.name, (w.counters[0], counter), w.outer, w.trips, rows, 0, w.span)
    return _timed(seen, tried, range(MOST_FACTOR + 1) if factor is None else (factor,))


def points_share(program: Program) -> bool:
    """Whether each single point in turns of all its loops is in wavefronts, so that units can share it."""
    inside = {n for w in wavefronts(program) for n in range(w.first, w.last + 1)}
    single = [all(d.extent == 1 for d in s.dims) for s in program.stages]
    alone = (x for x in program.loops if all(single[x.first : x.last + 1]))
    return all(n in inside for x in alone for n in range(x.first, x.last + 1))


def crossing(program: Program, fronts: Wavefronts, factor: int) -> Crossing | None:
    """Two iterations whose order the times of another factor do not keep; None if there are none."""
    return _Crossings(program).crossing(replace(fronts, factor=factor))


class _Crossings(Accesses):
    """A program in which the times of iterations are compared. strict: whether iterations of one time may not
    depend on one another."""

    def __init__(self, program: Program, *, strict: bool = True) -> None:
        super().__init__(program)
        self.strict = strict

    def crossing(self, w: Wavefronts) -> Crossing | None:
        return next(
            (found for a in w.rows for b in w.rows if (found := self.between(w, a, b)) is not None), None
        )

    def between(self, w: Wavefronts, a: Rows, b: Rows, *, turn: bool = False) -> Crossing | None:
        """An iteration in `a` and one in `b` that depends on it and does not run after it. turn: both in one
        turn of the outer loop."""
        if turn and w.rows.index(a) >= w.rows.index(b):
            return None
        for m in range(a.first, a.last + 1):
            for n in range(b.first, b.last + 1):
                found = self._stages(w, (a, m), (b, n), turn=turn)
                if found is not None:
                    return found
        return None

    def _stages(
        self, w: Wavefronts, a: tuple[Rows, int], b: tuple[Rows, int], *, turn: bool
    ) -> Crossing | None:
        s, t = (self.program.stages[n] for _, n in (a, b))
        for x, y in self.pairs(s, t):
            if never_meet(x.index, y.index):
                continue
            self.asked += 1
            if self.asked > MOST_ASKED:
                return Crossing(x.buffer, (s.name, t.name), (0, 0), (0, 0), (0, 0))
            found = self._solved(w, (*a, x), (*b, y), turn=turn)
            if found is not None:
                return found
        return None

    def _solved(
        self, w: Wavefronts, first: tuple[Rows, int, Access], second: tuple[Rows, int, Access], *, turn: bool
    ) -> Crossing | None:
        """Two instances that touch one element in the wrong order; None if there are none."""
        (a, m, x_), (b, n, y_) = first, second

        def own(number: int, x: Turns) -> bool:
            around = self.around(number)
            return w.first <= x.first and x.last <= w.last and around.index(x) >= _place(around, w.outer)

        def where(one: Names, two: Names) -> list[str]:
            sides = ((one, m), (two, n))
            there = (f"{affine_text(f, p)} >= 0" for p, k in sides for x in self.around(k) for f in x.where)
            return [*there, _wrong(w, a, b, one, two, turn=turn, strict=self.strict)]

        found = self.touching((m, x_), (n, y_), own, where)
        if found is None:
            return None
        (p, q), stages = found, self.program.stages
        at, then = (p[w.outer], p[a.var]), (q[w.outer], q[b.var])
        times = (w.factor * at[0] + at[1] + a.shift, w.factor * then[0] + then[1] + b.shift)
        return Crossing(x_.buffer, (stages[m].name, stages[n].name), at, then, times)


def _place(around: Sequence[Turns], var: str) -> int:
    return next(n for n, x in enumerate(around) if x.var == var)


def _wrong(w: Wavefronts, a: Rows, b: Rows, one: Names, two: Names, *, turn: bool, strict: bool) -> str:
    """The first instance comes first in the text, and not in time."""
    t, u = one[w.outer], two[w.outer]
    early = f"{w.factor}*{t} + {one[a.var]} + {a.shift}"
    late = f"{w.factor}*{u} + {two[b.var]} + {b.shift}"
    same = f"({t} = {u} and {early} > {late})"
    if turn:
        return same
    other = f"({t} < {u} and {early} {'>=' if strict else '>'} {late})"
    # inside of one inner loop, the order of times is that of iterations
    return f"{other} or {same}" if w.rows.index(a) < w.rows.index(b) else other


def _found(seen: _Crossings, x: Turns) -> list[Wavefronts]:
    """The wavefronts whose outer loop is `x`; empty if there are none."""
    stages = seen.program.stages[x.first : x.last + 1]
    if len(stages) > MOST_STAGES or x.trips < 2 or x.level or any(s.scattered for s in stages):
        return []
    for counter in dict.fromkeys(_counters(seen.program, x)):
        rows = _rows(seen.program, x, counter)
        if rows is None:
            continue
        w = Wavefronts(x.name, (x.name, counter), x.var, x.trips, rows, 0, x.span)
        found = _timed(seen, w)
        if found is not None:
            return [found]
    return []


def _counters(program: Program, x: Turns) -> Iterator[str]:
    """C's names of the loops directly inside of `x` around its first stage, the outermost first."""
    inside = _inside(program, x, x.first)
    if inside:
        yield inside[0].name
        return
    yield from (_counter(d) for d in program.stages[x.first].dims if d.kind is DimKind.CC)


def _counter(d: Dim) -> str:
    """What the text calls the variable. In a stage its name may be another one."""
    text = "" if d.span is None else d.span.text
    return text if text.isidentifier() else d.name


def _inside(program: Program, x: Turns, number: int) -> list[Turns]:
    """The loops of the program inside of `x` around a stage, outermost first."""
    around = [y for y in program.loops if y.first <= number <= y.last]
    return around[around.index(x) + 1 :]


def _rows(program: Program, x: Turns, counter: str, *, dims: bool = False) -> tuple[Rows, ...] | None:
    """The loops of this counter directly inside of `x`, which have all of its stages; None if there are
    others. dims: dimensions alone."""
    out: list[Rows] = []
    starts: list[tuple[int, int]] = []
    k = x.first
    while k <= x.last:
        inside = _inside(program, x, k)
        if inside:
            y = inside[0]
            if dims or y.name != counter or y.first != k:
                return None
            out.append(Rows(k, y.last, y.var, y.trips, 0))
            starts.append((y.start, y.step))
        else:
            known = (d for d in program.stages[k].dims if d.kind is DimKind.CC and _counter(d) == counter)
            dim = next(known, None)
            if dim is None or dim.span is None or dim.open is not None:
                return None
            out.append(Rows(k, k, dim.name, dim.extent, 0))
            starts.append((dim.start, dim.step))
        k = out[-1].last + 1
    (first, step), *_ = starts
    first = (min if step > 0 else max)(start for start, _ in starts)
    if any(s != step or (start - first) % step for start, s in starts):
        return None
    return tuple(replace(r, shift=(start - first) // step) for r, (start, _) in zip(out, starts, strict=True))


def _timed(
    seen: _Crossings, w: Wavefronts, factors: Sequence[int] = range(1, MOST_FACTOR + 1)
) -> Wavefronts | None:
    """With the least shifts and the least factor that keep all dependences; None if small ones do not."""
    for n, r in enumerate(w.rows):
        for more in range(MOST_SHIFT + 1):
            rows = (*w.rows[:n], replace(r, shift=r.shift + more), *w.rows[n + 1 :])
            tried = replace(w, rows=rows)
            if all(seen.between(tried, a, rows[n], turn=True) is None for a in rows[:n]):
                w = tried
                break
        else:
            return None
    orders = (replace(w, factor=f) for f in factors)
    return next((f for f in orders if seen.crossing(f) is None), None)
