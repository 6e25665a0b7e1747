"""Which loops of a nest can become a loop of the program, and the statements in its turns.

All statements of a nest share the turns, each by one of its loops. That may be the outermost one, which they
have in common; another one in common, as after an interchange of loops; or different ones that count alike.
`for (j = 0; j < n; j++) { for (k = 0; k < j; k++) x[j] -= a[j][k] * x[k]; x[j] /= a[j][j]; }` may divide x[t]
in turn t, and then subtract its multiples from all x[j] behind it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from mdh.frontend.parts import placed_alone
from mdh.frontend.statements import Array, Assign, Statement, conflict, gathers, turns_around, used_names
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.clauses import Clause, exact_clauses
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, substitute
from mdh.ir.statement import Held, LoopVar
from mdh.poly.implied import needed, possible
from mdh.poly.legality import broken_dependences
from mdh.poly.sets import reach

MOST_CHOICES = 4
"""Choices of different loops for the statements of a nest that are tried."""
MOST_PAIRS = 150
"""Pairs of such loops that are asked about."""
UNNAMED = "turn."
"""The variable of turns before it has a name. No variable of a loop is like it."""
Numbered = tuple[int, Statement]
"""A statement and its number in the nest."""


@dataclass(frozen=True, slots=True)
class LoopChoice:
    """A loop of the program. loops: that of each statement. shifts: the turn of its first iteration."""

    turns: LoopVar
    loops: tuple[LoopVar, ...]
    shifts: tuple[int, ...]

    @property
    def shared(self) -> LoopVar | None:
        """The loop, if it is one for all statements."""
        first = self.loops[0]
        return first if all(v == first for v in self.loops) else None


def choices(nest: Sequence[Statement]) -> Iterator[LoopChoice]:
    """Possible loops of the program, the outermost one first. Loops in common may be none; others are none
    that run anything earlier than what it depends on."""
    common = list(nest[0].loops)
    for s in nest[1:]:
        common = [v for v, w in zip(common, s.loops, strict=False) if v == w]
    for v in common:
        yield LoopChoice(replace(v, held=True), (v,) * len(nest), (0,) * len(nest))
    for loops in islice(_Alignment(nest).found(), MOST_CHOICES):
        found = _alike(loops)
        if found is not None and found.shared is None:
            yield found


@dataclass
class _Alignment:
    """Searches for a loop of each statement, the inner ones first, so that nothing runs in an earlier turn
    than what it depends on."""

    nest: Sequence[Statement]
    asked: dict[tuple[int, LoopVar, int, LoopVar], bool] = field(default_factory=dict)

    def found(self, chosen: tuple[LoopVar, ...] = ()) -> Iterator[tuple[LoopVar, ...]]:
        n = len(chosen)
        if n == len(self.nest):
            yield chosen
            return
        for v in reversed(self.nest[n].loops):
            if all(self._keeps(m, w, n, v) for m, w in enumerate((*chosen, v))):
                yield from self.found((*chosen, v))

    def _keeps(self, m: int, w: LoopVar, n: int, v: LoopVar) -> bool:
        """Whether loop w of statement m and loop v of statement n may be one."""
        key = (m, w, n, v)
        if key not in self.asked:
            if len(self.asked) == MOST_PAIRS:
                return False
            both = _alike((w, v))
            self.asked[key] = both is not None and not (
                self._meets(m, n) and any(_late(a, b) for a, b in self._pairs(both, m, n))
            )
        return self.asked[key]

    def _meets(self, m: int, n: int) -> bool:
        return conflict(self.nest[m], self.nest[n])

    def _pairs(self, both: LoopChoice, m: int, n: int) -> Iterator[tuple[Numbered, Numbered]]:
        one, other = (
            (k, _held(self.nest[k], loop, both.turns, shift))
            for k, loop, shift in zip((m, n), both.loops, both.shifts, strict=True)
        )
        yield one, other
        if m != n:
            yield other, one


def _late(first: Numbered, then: Numbered) -> bool:
    """Whether an instance of `first` that comes before one of `then` in the text, which depends on it, runs
    in a later turn."""
    a, b = ([placed_alone(*s, stage)] for s, stage in ((first, 0), (then, 1)))
    return next(broken_dependences(a, b), None) is not None


def _alike(loops: Sequence[LoopVar]) -> LoopChoice | None:
    """One loop over the values that the variables of several loops take; None if no such loop
    runs in their order with the same steps."""
    step = loops[0].step
    if any(v.step != step or v.moved.terms for v in loops):
        return None
    first = (min if step > 0 else max)(v.start for v in loops)
    shifts = [(v.start - first) // step for v in loops]
    if any((v.start - first) % step for v in loops):
        return None
    trips = max(n + v.extent for n, v in zip(shifts, loops, strict=True))
    turns = replace(loops[0], name=UNNAMED, start=first, extent=trips, held=True)
    return LoopChoice(turns, tuple(loops), tuple(shifts))


def in_turns(s: Statement, loop: LoopVar, turns: LoopVar, shift: int) -> Statement | None:
    """The statement in turns that are iterations of its loop; None if no condition can be added that it needs
    in other turns."""
    s = _held(s, loop, turns, shift)
    if turns.name != loop.name:
        s = renumbered(s, {loop.name: to_expr(Affine.var(turns.name).shift(-shift))})
    conds = turn_conditions(Affine.var(turns.name), turns.extent, loop, shift)
    if conds and not isinstance(s, Assign):
        return None
    return replace(s, conds=(*conds, *s.conds)) if isinstance(s, Assign) else s


def turn_conditions(turn: Affine, count: int, loop: LoopVar, shift: int) -> tuple[Expr, ...]:
    """What holds in those of `count` turns that are iterations of a loop."""
    out: list[Expr] = []
    if shift:
        out.append(Binary("<=", Const(shift, I32), to_expr(turn), I32))
    if count > shift + loop.extent:
        out.append(Binary("<", to_expr(turn), Const(shift + loop.extent, I32), I32))
    return tuple(out)


def without_implied(s: Statement) -> Statement:
    """The statement without conditions that others, and the ranges of its loops and turns, imply."""
    if not isinstance(s, Assign) or not s.conds:
        return s
    kept = needed(*_known(s))
    return replace(s, conds=tuple(c for c, keep in zip(s.conds, kept, strict=True) if keep))


def runs(s: Statement) -> bool:
    """Whether the statement's conditions may hold in any turn."""
    return not isinstance(s, Assign) or possible(*_known(s))


def writes_inside(s: Statement, arrays: Mapping[str, Array]) -> bool:
    """Whether all turns write inside of arrays. Conditions guard reads only, and a turn may be no iteration
    of the statement's loop."""
    ranges = {v.name: v.extent for v in (*s.loops, *turns_around(s))}
    every = (tuple(h.rest for h in s.held if h.block > 1),)
    for t in s.targets:
        for i, extent in zip(t.index, arrays[t.buffer].shape or (), strict=True):
            f = from_expr(i)
            found = None if f is None else reach(f, ranges, every)
            if found is not None and not (found[0][0] >= 0 and found[1][0] < extent):
                return False
    return True


def _known(s: Assign) -> tuple[list[Clause | None], dict[str, int]]:
    """The affine conditions of a statement, and the ranges of its loops and turns."""
    ranges = {v.name: v.extent for v in (*s.loops, *turns_around(s))}
    found = [exact_clauses((c,), ranges) for c in s.conds]
    return [c[0] if c is not None and len(c) == 1 else None for c in found], ranges


def _held(s: Statement, loop: LoopVar, turns: LoopVar, shift: int) -> Statement:
    """The same, with the loop's variable as it is."""
    held = replace(loop, held=True)
    uses = tuple(replace(u, loops=tuple(held if v == loop else v for v in u.loops)) for u in s.uses)
    rest = tuple(v for v in s.loops if v != loop)
    return replace(s, loops=rest, held=(*s.held, Held(turns, held, shift)), uses=uses)


def renumbered(s: Statement, values: dict[str, Expr]) -> Statement:
    """The statement with expressions in place of loop variables."""

    def new(e: Expr) -> Expr:
        return substitute(e, values)

    def element(e: Load) -> Load:
        return replace(e, index=tuple(map(new, e.index)))

    uses = tuple(replace(u, load=element(u.load), conds=tuple(map(new, u.conds))) for u in s.uses)
    if isinstance(s, Assign):
        return replace(
            s, target=element(s.target), value=new(s.value), conds=tuple(map(new, s.conds)), uses=uses
        )
    return replace(s, targets=tuple(map(element, s.targets)), values=tuple(map(new, s.values)), uses=uses)


def cut_at_counters(nest: Sequence[Statement]) -> list[Statement]:
    """The statements in parts before, at and behind the row that a counter of the program chooses: where a
    loop's variable chooses what is written, and a counter what is read, as in `p[i][j] = f(p[i][k], p[k][j])`
    in turn k. All that stand in such a loop are cut there, since they may read that row. Only themselves if
    there is no such row.

    Source: Griebl, Feautrier and Lengauer, "Index set splitting", IJPP 28(6), 2000.
    """
    rows: dict[str, Affine] = {}
    for s in nest:
        if isinstance(s, Assign):
            for name, row in _rows(s):
                rows.setdefault(name, row)
    return [part for s in nest for part in _at_rows(s, rows)]


def _rows(s: Assign) -> Iterator[tuple[str, Affine]]:
    """Variables of loops and the row of each that a counter of the program chooses."""
    turns = {h.turns.name for h in s.held}
    for u in s.uses:
        if u.write or u.load.buffer != s.target.buffer:
            continue
        for mine, other in zip(s.target.index, u.load.index, strict=True):
            f, g = from_expr(mine), from_expr(other)
            if f is None or g is None or not g.names <= turns or not g.names or len(f.terms) != 1:
                continue
            (name, weight), rest = f.terms[0], g.shift(-f.const)
            if name not in turns and abs(weight) == 1:
                yield name, rest.scale(weight)


def _at_rows(s: Statement, rows: Mapping[str, Affine]) -> list[Statement]:
    if not isinstance(s, Assign):
        return [s]
    out = [s]
    for v in s.loops:
        if v.name in rows:
            at, own = to_expr(rows[v.name]), Var(v.name)
            out = [_where(p, Binary(op, own, at, I32)) for p in out for op in ("<", "==", ">")]
    return list[Statement](out)


def _where(s: Assign, cond: Expr) -> Assign:
    uses = tuple(replace(u, conds=(cond, *u.conds)) for u in s.uses)
    return replace(s, conds=(cond, *s.conds), uses=uses)


def chosen_by_data(s: Statement, turns: LoopVar) -> bool:
    """Whether data and the number of the turn together choose what the statement writes."""
    return any(turns.name in used_names(t.index) and gathers(t.index) for t in s.targets)
