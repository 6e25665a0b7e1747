"""Statements to pieces: each one a map, a reduction, a scan or a best-so-far over the loops around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.scans import prefix_of
from mdh.frontend.scope import Assign, Best, LoopVar, Statement
from mdh.frontend.typing_rules import convert, select
from mdh.frontend.updates import Update, guarded, operators_of, update_of
from mdh.ir.affine import Affine, from_expr
from mdh.ir.dtype import I32, accumulator
from mdh.ir.expr import COMPARISONS, Binary, Const, Expr, Load, Select, Var, loads, map_children, walk
from mdh.ir.program import DimKind, Operator, Output, component
from mdh.poly.dependence import meeting
from mdh.source import Span


@dataclass
class Piece:
    """One Result to be, over `loops`; `kinds`: each loop's combine class; `number`: its first statement."""

    number: int
    loops: tuple[LoopVar, ...]
    kinds: tuple[DimKind, ...]
    op: Operator | None
    targets: tuple[Load, ...]
    values: tuple[Expr, ...]
    starts: tuple[Expr | None, ...]
    span: Span
    outputs: tuple[Output, ...] = ()
    exclusive: bool = False
    merged: set[int] = field(default_factory=set)
    """Numbers of the other statements that have become part of it."""

    @property
    def members(self) -> set[int]:
        return {self.number, *self.merged}

    def reads(self) -> set[str]:
        es = [*self.values, *(s for s in self.starts if s is not None)]
        for o in self.outputs:
            es += [o.value, *o.index]
        for t in self.targets:
            es += t.index
        return {n.buffer for e in es for n in loads(e)}

    def writes(self) -> set[str]:
        return {o.buffer for o in self.outputs}


Reads = Mapping[Load, Sequence[Span]]
"""Where in the text each element is read."""


def pieces_of(statements: list[Statement], reads: Reads) -> list[Piece]:
    """The pieces in C's order; fails where a dependence forbids running them one after another."""
    scans = _scan_partners(statements)
    _check_order(statements, scans)
    out = []
    used = {f for fs in scans.values() for f in fs}
    for n, s in enumerate(statements):
        if isinstance(s, Best):
            out.append(_best(n, s))
        elif n in scans:
            out.append(_running(n, s, [(f, statements[f]) for f in scans[n]]))
        elif n not in used:
            out.append(_assign(n, s, reads))
    return out


def element_of(s: Assign) -> Load:
    """The element that an assignment writes."""
    return Load(s.target, s.index, s.value.dtype)


def update(s: Assign) -> Update | None:
    """The update of a reduction that `s` makes, its conditions included; None where it is none."""
    me = element_of(s)
    found = update_of(me, guarded(me, s.value, s.conds), s.value.dtype)
    # A combined value exists only when the reduction has ended: nothing may look at it before.
    if found is None or any(x.buffer == s.target for e in (found.value, *s.index) for x in loads(e)):
        return None
    return found


def used_names(index: tuple[Expr, ...]) -> set[str]:
    return {n.name for e in index for n in walk(e) if isinstance(n, Var)}


def _scan_partners(statements: list[Statement]) -> dict[int, list[int]]:
    """Running updates `s += …` → statements of the same loops that store what has been summed so far."""
    out: dict[int, list[int]] = {}
    for n, s in enumerate(statements):
        if not isinstance(s, Assign) or update(s) is None:
            continue
        free = [lv for lv in s.loops if lv.name not in used_names(s.index)]
        stores = [
            k
            for k, t in enumerate(statements)
            if isinstance(t, Assign)
            and k != n
            and free
            and t.loops == s.loops
            and element_of(s) in loads(t.value)
        ]
        if stores and len(free) == 1:
            out[n] = stores
    return out


def _running(n: int, s: Assign, stores: list[tuple[int, Statement]]) -> Piece:
    found = update(s)
    assert found is not None
    me, held = element_of(s), accumulator(s.value.dtype)
    outputs = []
    for _, t in stores:
        assert isinstance(t, Assign)
        value = t.value if t.cond is None else select(t.cond, t.value, element_of(t))
        outputs.append(Output(t.target, t.index, replace_load(value, me, Var(component(0), held)), t.span))
    last = _last_value(n, s, found, stores, outputs)
    if last is not None:
        return last
    _check_stores(s, found, outputs)
    before = [k < n for k, _ in stores]
    if any(before) != all(before):
        raise Failed(_carried("the running value is stored both before and after its update", s.span, None))
    kinds = tuple(DimKind.CC if v.name in used_names(s.index) else DimKind.PS for v in s.loops)
    numbers = {n, *(k for k, _ in stores)}
    return Piece(min(numbers), s.loops, kinds, found.op, (me,), (found.value,), (convert(me, held),),
                 s.span, tuple(outputs), all(before), numbers)  # fmt: skip


def _last_value(
    n: int, s: Assign, found: Update, stores: list[tuple[int, Statement]], outputs: list[Output]
) -> Piece | None:
    """`y[i] += x; z[i] = y[i];` in one loop: what stays in z is the value at the end of the reduction."""
    free = {v.name for v in s.loops} - used_names(s.index)
    kept = [v for v in s.loops if v.name not in free]
    written = {o.buffer for o in outputs}
    for (k, t), o in zip(stores, outputs, strict=True):
        assert isinstance(t, Assign)
        if (
            k < n
            or t.conds
            or (used_names(o.index) | used_names((o.value,))) & free
            or not _once(element_of(t), kept)
        ):
            return None
    if any(x.buffer in written for e in (found.value, *(o.value for o in outputs)) for x in loads(e)):
        return None
    held = accumulator(s.value.dtype)
    me = element_of(s)
    own = Output(s.target, s.index, convert(Var(component(0), held), me.dtype), s.span)
    kinds = tuple(DimKind.PW if v.name in free else DimKind.CC for v in s.loops)
    return Piece(n, s.loops, kinds, found.op, (me,), (found.value,), (convert(me, held),), s.span,
                 (own, *outputs), merged={k for k, _ in stores})  # fmt: skip


def _check_stores(s: Assign, found: Update, outputs: list[Output]) -> None:
    """Each prefix has an element of its own, and nothing is read that another prefix is stored to."""
    loops = list(s.loops)
    for o in outputs:
        mine = Load(o.buffer, o.index, o.value.dtype)
        if _meet(mine, mine, loops, loops, True) is not None:
            raise Failed(_carried(f"`{o.buffer}`: the running value overwrites an earlier one", s.span, None))
        for e in (found.value, *(x.value for x in outputs), *o.index):
            for x in loads(e):
                if x.buffer == o.buffer and x.index != o.index:
                    what = f"`{o.buffer}`: a running value is stored where the sum still reads"
                    raise Failed(_carried(what, s.span, None))


def replace_load(e: Expr, old: Load, new: Expr) -> Expr:
    """`e` with every load of `old` replaced (converted to its type)."""
    if e == old:
        return convert(new, old.dtype)
    return map_children(e, lambda c: replace_load(c, old, new))


def _best(n: int, s: Best) -> Piece:
    where = tuple(Load(b, i, v.dtype) for (b, i), v in zip(s.targets, s.values, strict=True))
    index = where[0].index
    scattered = any(isinstance(x, Load) for e in index for x in walk(e))
    own = set() if scattered else used_names(index)
    kinds = tuple(DimKind.CC if v.name in own else DimKind.PW for v in s.loops)
    _check_best(s, where, [v for v in s.loops if v.name in own], scattered)
    name = s.op if len(where) > 1 else s.op[3:]
    targets = {w.buffer for w in where}
    if any(x.buffer in targets for e in (*s.values, *index) for x in loads(e)):
        raise Failed(_carried("the best so far depends on an earlier best", s.span, None))
    held = tuple(accumulator(w.dtype) for w in where)
    outputs = tuple(
        Output(w.buffer, w.index, convert(Var(component(c), held[c]), w.dtype), s.span)
        for c, w in enumerate(where)
    )
    values = tuple(convert(v, h) for v, h in zip(s.values, held, strict=True))
    starts = tuple(convert(w, h) for w, h in zip(where, held, strict=True))
    return Piece(n, s.loops, kinds, Operator(name, s.tie), where, values, starts, s.span, outputs)


def _check_best(s: Best, where: tuple[Load, ...], kept: list[LoopVar], scattered: bool) -> None:
    """The elements of each best are its own: no two iterations of the `kept` loops share one."""
    if scattered:
        if len(where) > 1:
            what = f"`{where[1].buffer}` goes with a best so far that stands at an index that is data"
            raise Failed(
                _carried(what, s.span, None, "find the best first, and where it is in a second nest")
            )
        return
    free = {v.name for v in s.loops if v not in kept}
    for w in where:
        foreign = used_names(w.index) & free
        pair = None if foreign else _meet(w, w, kept, kept, True)
        if foreign or pair is not None:
            points = None if pair is None else _points(pair, tuple(kept), tuple(kept))
            what = f"`{w.buffer}`: several iterations update one element, each its own best so far"
            raise Failed(_carried(what, s.span, points))


def _assign(n: int, s: Assign, reads: Reads) -> Piece:
    me = element_of(s)
    named = used_names(s.index)
    found = update(s)
    scattered = any(isinstance(x, Load) for e in s.index for x in walk(e))
    free = [v for v in s.loops if v.name not in named]
    held = accumulator(me.dtype)
    if (
        found is not None
        and (free or scattered)
        and (scattered or _once(me, [v for v in s.loops if v not in free]))
    ):
        kinds = tuple(DimKind.PW if scattered or v in free else DimKind.CC for v in s.loops)
        store = Output(s.target, s.index, convert(Var(component(0), held), me.dtype), s.span)
        return Piece(
            n, s.loops, kinds, found.op, (me,), (found.value,), (convert(me, held),), s.span, (store,)
        )
    scan = _scan(n, s)
    if scan is not None:
        return scan
    flag = _flag(n, s, free)
    if flag is not None:
        return flag
    _check_map(s, me, reads)
    value = s.value if s.cond is None else select(s.cond, s.value, me)
    store = Output(s.target, s.index, Var(component(0), me.dtype), s.span)
    kinds = (DimKind.CC,) * len(s.loops)
    return Piece(n, s.loops, kinds, None, (me,), (convert(value, me.dtype),), (None,), s.span, (store,))


def _flag(n: int, s: Assign, free: list[LoopVar]) -> Piece | None:
    """`if (x[i][j] == 7) some[i] = 1;`: the same value whichever iterations of j assign it, if one does."""
    me = element_of(s)
    names = {v.name for v in free}
    cond = s.cond
    if cond is None or not free or used_names((s.value,)) & names:
        return None
    if any(x.buffer == s.target for e in (cond, s.value, *s.index) for x in loads(e)):
        return None
    if not _once(me, [v for v in s.loops if v not in free]) or any(True for e in s.index for _ in loads(e)):
        return None
    kinds = tuple(DimKind.PW if v in free else DimKind.CC for v in s.loops)
    value = convert(select(Var(component(0), I32), s.value, me), me.dtype)
    store = Output(s.target, s.index, value, s.span)
    known = isinstance(cond, Binary) and cond.op in COMPARISONS
    holds = cond if known else Binary("!=", cond, convert(Const(0, I32), cond.dtype), I32)
    return Piece(n, s.loops, kinds, Operator("||"), (me,), (holds,), (None,), s.span, (store,))


def _scan(n: int, s: Assign) -> Piece | None:
    """S[i] = S[i-1] op value."""
    me = element_of(s)
    found = None if s.conds else prefix_of(me, s.value, s.loops)
    if found is None:
        return None
    held = accumulator(me.dtype)
    kinds = tuple(DimKind.PS if v == found.axis else DimKind.CC for v in s.loops)
    store = Output(s.target, s.index, convert(Var(component(0), held), me.dtype), s.span)
    return Piece(n, s.loops, kinds, found.op, (me,), (found.value,), (found.start,), s.span, (store,))


def affine(index: tuple[Expr, ...]) -> tuple[Affine | None, ...]:
    return tuple(from_expr(e) for e in index)


def _meet(
    a: Load, b: Load, loops: list[LoopVar], order: list[LoopVar], later: bool
) -> tuple[dict[str, int], dict[str, int]] | None:
    pairs = [
        (x, y)
        for x, y in zip(affine(a.index), affine(b.index), strict=True)
        if x is not None and y is not None
    ]
    ranges = {v.name: v.extent for v in loops}
    first, second = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    return meeting(first, second, ranges, tuple(v.name for v in order), later=later)


def _once(me: Load, loops: list[LoopVar]) -> bool:
    """Every element belongs to one iteration of `loops`."""
    return not loops or _meet(me, me, loops, loops, True) is None


def _check_map(s: Assign, me: Load, reads: Reads) -> None:
    for other in [me, *(x for x in loads(s.value) if x.buffer == s.target)]:
        pair = _meet(me, other, list(s.loops), list(s.loops), other == me)
        if pair is None:
            continue
        where = _points(pair, s.loops, s.loops)
        if other == me:
            headline, help_ = _twice(s, me)
            raise Failed(_carried(headline, s.span, where, help_))
        read = next((Label(p, "read here") for p in reads.get(other, ()) if p.start > s.span.start), None)
        what = f"`{s.target}`: this statement reads an element that another iteration writes"
        raise Failed(_carried(what, s.span, where, more=() if read is None else (read,)))


def _twice(s: Assign, me: Load) -> tuple[str, str]:
    """Why several writes of one element are no reduction; what would work."""
    name = s.target
    ops = operators_of(me, guarded(me, s.value, s.conds))
    if len(ops) > 1:
        by = [f"by `{op}`" for op in ops if op != "="] + ["assigned anew"] * ("=" in ops)
        return (
            f"`{name}` is updated in several ways: {', '.join(by)}",
            "a reduction has one operator: use it in all branches, or give each its own array",
        )
    if ops != ("=",):
        own = any(x == me for c in _conditions(s) for x in loads(c))
        how = "where a condition on its own running value holds" if own else f"by a value that reads `{name}`"
        return f"`{name}` is updated {how}", KNOWN
    return f"`{name}`: this statement writes the same element twice", ""


def _conditions(s: Assign) -> list[Expr]:
    return [*s.conds, *(e.cond for e in walk(s.value) if isinstance(e, Select))]


def _check_order(statements: list[Statement], scans: dict[int, list[int]]) -> None:
    """No statement may depend on a later one of an earlier iteration."""
    for j, t in enumerate(statements):
        for i, s in enumerate(statements[:j]):
            common = [v for v in s.loops if v in t.loops]
            if not common or j in scans.get(i, ()) or i in scans.get(j, ()):
                continue
            for a, b in _conflicts(t, s):
                pair = _meet(a, b, list({*s.loops, *t.loops}), common, True)
                if pair is not None:
                    where = _points(pair, t.loops, s.loops)
                    what = f"`{a.buffer}` carries values from one iteration to later ones"
                    raise Failed(_carried(what, t.span, where, more=(Label(s.span, "and this statement"),)))


def _conflicts(a: Statement, b: Statement) -> list[tuple[Load, Load]]:
    wa, ra = accesses(a)
    wb, rb = accesses(b)
    pairs = [(x, y) for x in wa for y in [*wb, *rb]] + [(x, y) for x in ra for y in wb]
    return [(x, y) for x, y in pairs if x.buffer == y.buffer]


def accesses(s: Statement) -> tuple[list[Load], list[Load]]:
    """Elements written, elements read."""
    if isinstance(s, Best):
        where = [Load(b, i, v.dtype) for (b, i), v in zip(s.targets, s.values, strict=True)]
        return where, [*where, *(x for v in s.values for x in loads(v))]
    me = element_of(s)
    read = [
        *loads(s.value),
        *(loads(s.cond) if s.cond is not None else ()),
        *(x for e in s.index for x in loads(e)),
    ]
    return [me], read


def _points(
    pair: tuple[dict[str, int], dict[str, int]], a: tuple[LoopVar, ...], b: tuple[LoopVar, ...]
) -> str:
    texts = []
    for point, loops in zip(pair, (a, b), strict=True):
        texts.append(", ".join(f"{v.cname} = {v.start + v.step * point[v.name]}" for v in loops))
    return f"iterations ({texts[0]}) and ({texts[1]}) meet in one element"


KNOWN = "reductions, prefix sums and best-so-far updates are supported; write others to another array"


def _carried(
    headline: str, span: Span, where: str | None, help_: str = "", more: tuple[Label, ...] = ()
) -> Diagnostic:
    labels = (Label(span, "a dependence between iterations"), *more)
    return Diagnostic("C150", headline, labels, (where,) if where else (), help=help_ or KNOWN)
