"""Classifies statements as pieces: maps, reductions, scans or best-so-far over the loops around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.records import reads_own
from mdh.frontend.scans import prefix_of, replaced
from mdh.frontend.statements import Assign, Best, Statement, gathers, text_loops, used_names
from mdh.frontend.typing_rules import convert, select
from mdh.frontend.updates import Update, guarded, update_of
from mdh.ir.affine import Affine, from_expr
from mdh.ir.dtype import I32, accumulator
from mdh.ir.expr import COMPARISONS, Binary, Const, Expr, Load, Var, loads
from mdh.ir.program import DimKind, Operator, Output, component
from mdh.ir.statement import LoopVar, Phase
from mdh.poly.sets import Point, meeting
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class PieceMember:
    """A statement of a piece, in `phase`; see `ir.statement.Placement`.

    point: for each loop of the piece that is not reduced, its value for an instance of the statement.
    carried: the elements of the statement that stand for the accumulator. again: the statement's value is
    computed once more here as a part of a later one's, so its reads are made here too.
    """

    number: int
    phase: int
    point: tuple[Affine, ...]
    carried: frozenset[Load] = frozenset()
    last: bool = False
    again: bool = False


@dataclass(frozen=True)
class Piece:
    """A future Result over `loops`. kinds: each loop's combine class. accumulator: the statement that updates
    it, or that it is. members: that statement and those that are its start, its stores or its epilogues."""

    accumulator: int
    loops: tuple[LoopVar, ...]
    kinds: tuple[DimKind, ...]
    op: Operator | None
    targets: tuple[Load, ...]
    values: tuple[Expr, ...]
    starts: tuple[Expr | None, ...]
    span: Span
    outputs: tuple[Output, ...]
    members: tuple[PieceMember, ...]
    exclusive: bool = False
    loose: str = ""
    """Why a NaN, or the sign of a zero, may differ from C."""

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(m.number for m in self.members)

    @property
    def scattered(self) -> bool:
        """Whether this is a histogram. Only other histograms may share its stage."""
        return any(gathers(t.index) for t in self.targets)

    @cached_property
    def writes(self) -> frozenset[str]:
        return frozenset(o.buffer for o in self.outputs)

    @cached_property
    def reads(self) -> frozenset[str]:
        es = [*self.values, *(s for s in self.starts if s is not None)]
        for o in self.outputs:
            es += [o.value, *o.index]
        for t in self.targets:
            es += t.index
        return frozenset(n.buffer for e in es for n in loads(e))


def pieces_of(statements: Sequence[Statement]) -> list[Piece]:
    """Each statement by itself as a piece, in the text's order. Raises if one has no known form."""
    scans = _scan_partners(statements)
    out = []
    used = {f for fs in scans.values() for f in fs}
    for n, s in enumerate(statements):
        _check_old_values(s)
        if isinstance(s, Best):
            out.append(_best(n, s))
        elif n in scans:
            out.append(_running(n, s, [(f, statements[f]) for f in scans[n]]))
        elif n not in used:
            out.append(_assign(n, s))
    return out


def _check_old_values(s: Statement) -> None:
    """Raises C115 for an update that reads its element through a local set before the loop, which has the old
    value and not the running one."""
    whole = len(text_loops(s))
    old = next((u for u in s.uses if u.load in s.targets and len(u.loops) < whole), None)
    if old is not None:
        what = f"a local holds an element of `{old.load.buffer}` as it was before the loop that writes it"
        help_ = f"read `{old.load.buffer}` inside of the loop, or write to another array"
        raise Failed(Diagnostic("C115", what, (Label(s.span), Label(old.span, "read here")), help=help_))


def point_of(loops: tuple[LoopVar, ...], kinds: tuple[DimKind, ...]) -> tuple[Affine, ...]:
    """The loops that are not reduced, as coordinates."""
    return tuple(Affine.var(v.name) for v, k in zip(loops, kinds, strict=True) if k is not DimKind.PW)


def update(s: Assign) -> Update | None:
    """The update of a reduction that `s` makes, with its conditions; None if it is none."""
    me = s.target
    found = update_of(me, guarded(me, s.value, s.conds), s.value.dtype)
    if found is None or any(x.buffer == me.buffer for e in me.index for x in loads(e)):
        return None
    # A combined value exists only when the reduction has ended, so nothing may read it before. In turns of a
    # loop of the program the array may have other elements too, which the dependences tell apart.
    if not s.held and any(x.buffer == me.buffer for x in loads(found.value)):
        return None
    return found


def _scan_partners(statements: Sequence[Statement]) -> dict[int, list[int]]:
    """Running updates `s += …` -> statements of the same loops that store what has been summed so far."""
    out: dict[int, list[int]] = {}
    scattered = [isinstance(t, Assign) and gathers(t.target.index) for t in statements]
    read = [frozenset(loads(t.value)) if isinstance(t, Assign) else frozenset[Load]() for t in statements]
    for n, s in enumerate(statements):
        if not isinstance(s, Assign) or scattered[n] or update(s) is None:
            continue
        free, me = s.free, s.target
        stores = [
            k
            for k, t in enumerate(statements)
            if me in read[k]
            and isinstance(t, Assign)
            and k != n
            and t.target.buffer != me.buffer
            and not scattered[k]
            and free
            and (t.loops, t.held) == (s.loops, s.held)
        ]
        if stores and len(free) == 1:
            out[n] = stores
    return out


def _running(n: int, s: Assign, stores: list[tuple[int, Statement]]) -> Piece:
    found = update(s)
    assert found is not None
    me, held = s.target, accumulator(s.value.dtype)
    outputs = []
    for _, t in stores:
        assert isinstance(t, Assign)
        value = t.value if t.cond is None else select(t.cond, t.value, t.target)
        value = replace_load(value, me, Var(component(0), held))
        outputs.append(Output(t.target.buffer, t.target.index, value, t.span))
    last = _last_value(n, s, found, stores, outputs)
    if last is not None:
        return last
    _check_stores(s, found, outputs)
    before = [k < n for k, _ in stores]
    if any(before) != all(before):
        raise Failed(carried("the running value is stored both before and after its update", s.span, None))
    kinds = tuple(DimKind.PS if v in s.free else DimKind.CC for v in s.loops)
    point = point_of(s.loops, kinds)
    members = tuple(
        PieceMember(k, Phase.UPDATE, point, frozenset({me})) for k in (n, *(k for k, _ in stores))
    )
    return Piece(n, s.loops, kinds, found.op, (me,), (found.value,), (convert(me, held),),
                 s.span, tuple(outputs), members, all(before), found.loose)  # fmt: skip


def _last_value(
    n: int, s: Assign, found: Update, stores: list[tuple[int, Statement]], outputs: list[Output]
) -> Piece | None:
    """`y[i] += x; z[i] = y[i];` in one loop: z finally has the value at the end of the reduction."""
    free = {v.name for v in s.free}
    kept = [v for v in s.loops if v.name not in free]
    written = {o.buffer for o in outputs}
    for (k, t), o in zip(stores, outputs, strict=True):
        assert isinstance(t, Assign)
        if (
            k < n
            or t.conds
            or (used_names(o.index) | used_names((o.value,))) & free
            or not _once(t.target, kept)
        ):
            return None
    if any(x.buffer in written for e in (found.value, *(o.value for o in outputs)) for x in loads(e)):
        return None
    me, held = s.target, accumulator(s.value.dtype)
    own = Output(me.buffer, me.index, _state(me), s.span)
    kinds = tuple(DimKind.PW if v.name in free else DimKind.CC for v in s.loops)
    point = point_of(s.loops, kinds)
    members = [PieceMember(n, Phase.UPDATE, point, frozenset({me}))]
    for order, (k, t) in enumerate(stores):
        assert isinstance(t, Assign)
        kept_ = frozenset({me, t.target})
        members.append(PieceMember(k, Phase.FINISH + order, point, kept_, last=True))
    return Piece(n, s.loops, kinds, found.op, (me,), (found.value,), (convert(me, held),), s.span,
                 (own, *outputs), tuple(members), loose=found.loose)  # fmt: skip


def _check_stores(s: Assign, found: Update, outputs: list[Output]) -> None:
    """Raises unless each prefix has its own element, and nothing reads where another one is stored."""
    for o in outputs:
        mine = Load(o.buffer, o.index, o.value.dtype)
        if _meet(mine, s.loops) is not None:
            raise Failed(carried(f"`{o.buffer}`: the running value overwrites an earlier one", s.span, None))
        for e in (found.value, *(x.value for x in outputs), *o.index):
            for x in loads(e):
                if x.buffer == o.buffer and x.index != o.index:
                    what = f"`{o.buffer}`: a running value is stored where the sum still reads"
                    raise Failed(carried(what, s.span, None))


def replace_load(e: Expr, old: Load, new: Expr) -> Expr:
    """`e` with every load of `old` replaced (converted to its type)."""
    return replaced(e, old, convert(new, old.dtype))


def _best(n: int, s: Best) -> Piece:
    where = s.targets
    index = where[0].index
    scattered = any(gathers(w.index) for w in where)
    own = set() if scattered else used_names(index)
    kinds = tuple(DimKind.CC if v.name in own else DimKind.PW for v in s.loops)
    _check_best(s, where, [v for v in s.loops if v.name in own], scattered)
    name = s.op if len(where) > 1 else s.op[3:]
    own_index = reads_own(where, index)
    if own_index or (not s.held and reads_own(where, s.values)) or _reads_itself(s):
        raise Failed(carried("the best so far depends on an earlier best", s.span, None))
    held = tuple(accumulator(w.dtype) for w in where)
    outputs = tuple(Output(w.buffer, w.index, _state(w, c), s.span) for c, w in enumerate(where))
    values = tuple(convert(v, h) for v, h in zip(s.values, held, strict=True))
    starts = tuple(convert(w, h) for w, h in zip(where, held, strict=True))
    member = PieceMember(n, Phase.UPDATE, point_of(s.loops, kinds), frozenset(where))
    op = Operator(name, s.tie if len(where) > 1 or where[0].dtype.is_float else "first")
    return Piece(n, s.loops, kinds, op, where, values, starts, s.span, outputs, (member,), loose=s.loose)


def _reads_itself(s: Best) -> bool:
    """Whether a value reads an element that goes with the best. In turns of a loop of the program other
    elements may lie in the same array, which the dependences tell apart."""
    return any(x in s.targets for v in s.values for x in loads(v))


def _check_best(s: Best, where: tuple[Load, ...], kept: list[LoopVar], scattered: bool) -> None:
    """Raises unless the elements of each best are its own: no two iterations of `kept` loops, and no two
    parts, share one."""
    if len({w.buffer for w in where}) < len(where):
        what = f"`{where[0].buffer}`: two parts of one best so far lie in one array, where they may meet"
        raise Failed(carried(what, s.span, None, "give each part an array of its own"))
    if scattered:
        if len(where) > 1:
            what = f"`{where[1].buffer}` goes with a best so far that stands at an index that is data"
            raise Failed(carried(what, s.span, None, "find the best first, and where it is in a second nest"))
        return
    free = {v.name for v in s.loops if v not in kept}
    for w in where:
        foreign = used_names(w.index) & free
        pair = None if foreign else _meet(w, kept)
        if foreign or pair is not None:
            points = None if pair is None else meeting_text(pair, kept, kept)
            what = f"`{w.buffer}`: several iterations update one element, each its own best so far"
            raise Failed(carried(what, s.span, points))


def _assign(n: int, s: Assign) -> Piece:
    me, free, found = s.target, s.free, update(s)
    scattered = gathers(me.index)
    if found is not None and (scattered or (free and _once(me, [v for v in s.loops if v not in free]))):
        kinds = tuple(DimKind.PW if scattered or v in free else DimKind.CC for v in s.loops)
        start = convert(me, accumulator(me.dtype))
        return _piece(n, s, kinds, found.op, found.value, start, _state(me), me, loose=found.loose)
    return _scan(n, s) or _flag(n, s, free) or _map(n, s)


def _piece(
    n: int, s: Assign, kinds: tuple[DimKind, ...], op: Operator | None, value: Expr, start: Expr | None,
    stored: Expr, *carried: Load, loose: str = "",
) -> Piece:  # fmt: skip
    """The piece of one statement by itself. stored: what it stores, of the combined value."""
    store = Output(s.target.buffer, s.target.index, stored, s.span)
    member = PieceMember(n, Phase.UPDATE, point_of(s.loops, kinds), frozenset(carried))
    return Piece(
        n, s.loops, kinds, op, s.targets, (value,), (start,), s.span, (store,), (member,), loose=loose
    )


def _state(element: Load, c: int = 0) -> Expr:
    """Component c of the combined value in the element's type."""
    return convert(Var(component(c), accumulator(element.dtype)), element.dtype)


def _map(n: int, s: Assign) -> Piece:
    """A map: no two iterations store the same element (`check_dependences` proves it)."""
    me = s.target
    if gathers(me.index):
        what = f"`{me.buffer}` is assigned at an index that is data, where two iterations may meet"
        raise Failed(carried(what, s.span, None, f"update it by an operator: {me.buffer}[…] += x"))
    value = s.value if s.cond is None else select(s.cond, s.value, me)
    kinds = (DimKind.CC,) * len(s.loops)
    return _piece(n, s, kinds, None, convert(value, me.dtype), None, Var(component(0), me.dtype))


def _flag(n: int, s: Assign, free: list[LoopVar]) -> Piece | None:
    """`if (x[i][j] == 7) some[i] = 1;`: the same value whichever iterations of j assign it, if any does."""
    me = s.target
    names = {v.name for v in free}
    cond = s.cond
    if cond is None or not free or used_names((s.value,)) & names:
        return None
    if any(x.buffer == me.buffer for e in (cond, s.value, *me.index) for x in loads(e)):
        return None
    if not _once(me, [v for v in s.loops if v not in free]) or gathers(me.index):
        return None
    kinds = tuple(DimKind.PW if v in free else DimKind.CC for v in s.loops)
    value = convert(select(Var(component(0), I32), s.value, me), me.dtype)
    known = isinstance(cond, Binary) and cond.op in COMPARISONS
    holds = cond if known else Binary("!=", cond, convert(Const(0, I32), cond.dtype), I32)
    return _piece(n, s, kinds, Operator("||"), holds, None, value, me)


def _scan(n: int, s: Assign) -> Piece | None:
    """S[i] = S[i-1] op value."""
    me = s.target
    found = None if s.conds else prefix_of(me, s.value, s.loops)
    if found is None:
        return None
    kinds = tuple(DimKind.PS if v == found.axis else DimKind.CC for v in s.loops)
    value, start, loose = found.value, found.start, found.loose
    return _piece(n, s, kinds, found.op, value, start, _state(me), me, found.before, loose=loose)


def _meet(a: Load, loops: Sequence[LoopVar]) -> tuple[Point, Point] | None:
    """Two iterations of `loops` that have the same element `a`. A subscript that is data counts as equal."""
    index = tuple(x for x in map(from_expr, a.index) if x is not None)
    return meeting(index, {v.name: v.extent for v in loops})


def _once(me: Load, loops: list[LoopVar]) -> bool:
    """Whether every element belongs to one iteration of `loops`."""
    return _meet(me, loops) is None


def meeting_text(pair: tuple[Point, Point], a: Sequence[LoopVar], b: Sequence[LoopVar]) -> str:
    """Two iterations in C's terms, without counters that start where loops outside of `a` and `b` say."""
    texts = []
    for point, loops in zip(pair, (a, b), strict=True):
        known = [v for v in loops if v.moved.names <= point.keys()]
        texts.append(", ".join(f"{v.cname} = {v.at(point)}" for v in known))
    return f"iterations ({texts[0]}) and ({texts[1]}) meet in one element"


KNOWN = "reductions, prefix sums and best-so-far updates are supported; write others to another array"


def carried(
    headline: str, span: Span, where: str | None, help_: str = "", more: tuple[Label, ...] = ()
) -> Diagnostic:
    labels = (Label(span, "a dependence between iterations"), *more)
    return Diagnostic("C150", headline, labels, (where,) if where else (), help=help_ or KNOWN)
