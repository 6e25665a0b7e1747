"""Which loops of a nest can become a loop of the program, and the statements in its turns.

All statements of a nest share the turns, each by one of its loops. That may be the outermost one, which they
have in common; another one in common, as after an interchange of loops; or the innermost one of each, where
they count alike: `for (j = 0; j < i; j++) { for (k = 0; k < j; k++) x[j] -= a[j][k] * x[k]; x[j] /= a[j][j]; }`
divides x[t] in turn t and then subtracts its multiples from all x[j] behind it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mdh.frontend.statements import Assign, Statement, gathers, used_names
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, substitute
from mdh.ir.statement import Held, LoopVar


@dataclass(frozen=True, slots=True)
class Choice:
    """A loop of the program. loops: that of each statement. shifts: the turn of its first iteration."""

    turns: LoopVar
    loops: tuple[LoopVar, ...]
    shifts: tuple[int, ...]

    @property
    def shared(self) -> LoopVar | None:
        """The loop, if it is one for all statements."""
        first = self.loops[0]
        return first if all(v == first for v in self.loops) else None


def choices(nest: Sequence[Statement]) -> Iterator[Choice]:
    """Possible loops of the program, the outermost one first."""
    common = list(nest[0].loops)
    for s in nest[1:]:
        common = [v for v, w in zip(common, s.loops, strict=False) if v == w]
    for v in common:
        yield Choice(replace(v, held=True), (v,) * len(nest), (0,) * len(nest))
    last = [s.loops[-1] for s in nest if s.loops]
    if len(last) == len(nest) and any(v != last[0] for v in last):
        found = _alike(last)
        if found is not None:
            yield found


def _alike(loops: Sequence[LoopVar]) -> Choice | None:
    """Different loops as one loop over the values of C's variables; None if they do not count alike."""
    step = loops[0].step
    if any(v.step != step or v.moved.terms for v in loops):
        return None
    first = (min if step > 0 else max)(v.start for v in loops)
    shifts = [(v.start - first) // step for v in loops]
    if any((v.start - first) % step for v in loops):
        return None
    trips = max(n + v.extent for n, v in zip(shifts, loops, strict=True))
    turns = replace(loops[0], start=first, extent=trips, held=True)
    return Choice(turns, tuple(loops), tuple(shifts))


def in_turns(s: Statement, loop: LoopVar, turns: LoopVar, shift: int) -> Statement | None:
    """The statement in turns that are iterations of its loop; None if no condition can be added that it needs
    in other turns."""
    held = replace(loop, held=True)
    uses = tuple(replace(u, loops=tuple(held if v == loop else v for v in u.loops)) for u in s.uses)
    s = replace(
        s,
        loops=tuple(v for v in s.loops if v != loop),
        held=(*s.held, Held(turns, held, shift)),
        uses=uses,
    )
    if turns.name != loop.name:
        s = _renumbered(s, {loop.name: to_expr(Affine.var(turns.name).shift(-shift))})
    conds: list[Expr] = []
    if shift:
        conds.append(Binary("<=", Const(shift, I32), Var(turns.name), I32))
    if turns.extent > shift + loop.extent:
        conds.append(Binary("<", Var(turns.name), Const(shift + loop.extent, I32), I32))
    if conds and not isinstance(s, Assign):
        return None
    return replace(s, conds=(*conds, *s.conds)) if isinstance(s, Assign) else s


def _renumbered(s: Statement, values: dict[str, Expr]) -> Statement:
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


def cut_at_counters(s: Statement) -> list[Statement]:
    """The statement in parts before, at and behind the row that a counter of the program chooses: where a
    loop's variable chooses what is written, and a counter what is read, as in `p[i][j] = f(p[i][k], p[k][j])`
    in turn k. Only itself if there is no such row.

    Source: Griebl, Feautrier and Lengauer, "Index set splitting", IJPP 28(6), 2000.
    """
    if not isinstance(s, Assign):
        return [s]
    turns = {h.turns.name for h in s.held}
    rows: dict[str, Affine] = {}
    for u in s.uses:
        if u.write or u.load.buffer != s.target.buffer:
            continue
        for mine, other in zip(s.target.index, u.load.index, strict=True):
            f, g = from_expr(mine), from_expr(other)
            if f is None or g is None or not g.names <= turns or not g.names or len(f.terms) != 1:
                continue
            (name, weight), rest = f.terms[0], g.shift(-f.const)
            if name not in turns and abs(weight) == 1:
                rows.setdefault(name, rest.scale(weight))
    out = [s]
    for v in s.loops:
        if v.name in rows:
            at, own = to_expr(rows[v.name]), Var(v.name)
            out = [
                replace(p, conds=(Binary(op, own, at, I32), *p.conds))
                for p in out
                for op in ("<", "==", ">")
                if isinstance(p, Assign)
            ]
    return out


def chosen_by_data(s: Statement, turns: LoopVar) -> bool:
    """Whether data and the number of the turn together choose what the statement writes."""
    return any(turns.name in used_names(t.index) and gathers(t.index) for t in s.targets)
