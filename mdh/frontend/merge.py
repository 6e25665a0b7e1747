"""Merges pieces: an initialiser becomes a start, and a finishing statement an epilogue.

Pieces that fit by their form are merged only if the dependences allow it (`dependences.keeps`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mdh.frontend.conversions import strip
from mdh.frontend.dependences import Written, keeps
from mdh.frontend.limits import MOST_TRIPS, is_small
from mdh.frontend.pieces import Piece, PieceMember, replace_load
from mdh.frontend.scans import BEGUN, at_first, repeated
from mdh.frontend.statements import turns_around, used_names
from mdh.frontend.typing_rules import convert, select
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, loads, map_children, substitute
from mdh.ir.program import DimKind, Output, component
from mdh.ir.statement import Phase


def merged(pieces: list[Piece], text: Sequence[Written], temps: frozenset[str]) -> list[Piece]:
    """The pieces, with init–reduce–finish chains merged. temps: arrays of the function's own."""
    out = pieces
    for number in [p.accumulator for p in pieces if p.op is not None]:
        begun = _with_starts(out, number, text)
        if DimKind.PS in _reduction(out, number).kinds:
            whole = _with_total(begun, number, temps, text)
            # the total is a second stage: it reads the start again after the running values are stored
            kept = keeps(whole, _reduction(whole, number), text)
            out = whole if kept else _with_total(out, number, temps, text)
        else:
            out = _with_epilogues(begun, number, text)
            out = _without_unread(out, number, temps, text)
    return out


def _reduction(pieces: list[Piece], number: int) -> Piece:
    return next(p for p in pieces if p.accumulator == number)


def _place(pieces: list[Piece], r: Piece) -> int:
    return next(n for n, p in enumerate(pieces) if p is r)


def _joined(out: list[Piece], r: Piece, other: Piece, whole: Piece) -> list[Piece]:
    """The pieces with `whole` in place of r, and without `other`."""
    return [whole if p is r else p for p in out if p is not other]


def _with_starts(out: list[Piece], number: int, text: Sequence[Written]) -> list[Piece]:
    for c in range(len(_reduction(out, number).targets)):
        r = _reduction(out, number)
        before = out[: _place(out, r)]
        m = next((p for p in reversed(before) if r.targets[c].buffer in p.writes), None)
        if m is None or m.op is not None:
            continue
        whole = _peeled(m, r) or _begun(m, r, c)
        if whole is not None and keeps(_joined(out, r, m, whole), whole, text):
            out = _joined(out, r, m, whole)
    return out


def _begun(m: Piece, r: Piece, c: int) -> Piece | None:
    """Component c of r starting with what m stores; None if m is no start of it."""
    target, start = r.targets[c], r.starts[c]
    names = _renaming(m.targets[0].index, target.index, m, r)
    if names is None:
        return None
    stored = substitute(m.values[0], names)
    whole = replace(r, members=(*r.members, *_members(m, r, names, Phase.START, m.targets[0])))
    if start is None and len(r.outputs) == 1 and target in loads(r.outputs[0].value):
        o = r.outputs[0]
        return replace(whole, outputs=(replace(o, value=replace_load(o.value, target, stored)),))
    if start is None or strip(start, target.dtype) != target:
        return None
    value: Expr | None = replace_load(start, target, stored)
    if isinstance(value, Const) and r.op is not None and value == r.op.identity(value.dtype):
        value = None if len(r.targets) == 1 else value
    return replace(whole, starts=tuple(value if i == c else s for i, s in enumerate(r.starts)))


def _members(
    m: Piece, r: Piece, names: dict[str, Expr], phase: int, *carried: Load
) -> tuple[PieceMember, ...]:
    """m's statements as parts of r. names: the loops of m as loops of r."""
    mine = {k.name: n for n, k in names.items() if isinstance(k, Var)}
    kept = [v.name for v, k in zip(r.loops, r.kinds, strict=True) if k is not DimKind.PW]
    point = tuple(Affine.var(mine[v]) if v in mine else Affine() for v in kept)
    return tuple(PieceMember(x.number, phase, point, frozenset(carried)) for x in m.members)


def _peeled(m: Piece, r: Piece) -> Piece | None:
    """`S[0] = y; for (i = 1; …) S[i] = S[i-1] + x;`: the prefix sum r starts at m's element."""
    axes = [v for v, k in zip(r.loops, r.kinds, strict=True) if k is DimKind.PS]
    before = None if r.starts[0] is None else strip(r.starts[0], r.targets[0].dtype)
    if len(axes) != 1 or r.exclusive or not isinstance(before, Load) or before.buffer != r.targets[0].buffer:
        return None
    axis = axes[0]
    if r.op is None or r.op.name not in BEGUN or any(x.buffer == before.buffer for x in loads(m.values[0])):
        return None
    stored = [Load(o.buffer, o.index, r.targets[0].dtype) for o in r.outputs]
    if axis.extent == MOST_TRIPS or stored != [r.targets[0]]:
        return None
    names = _renaming(m.targets[0].index, before.index, m, r)
    if names is None:
        return None
    grown = replace(axis, start=axis.start - axis.step, extent=axis.extent + 1)

    def shifted(e: Expr) -> Expr:
        return _affine_parts(substitute(e, {axis.name: to_expr(Affine.of({axis.name: 1}, -1))}))

    first, later = convert(substitute(m.values[0], names), r.values[0].dtype), shifted(r.values[0])
    if at_first(later, axis) != _affine_parts(first):
        begun = Binary(">", Var(axis.name), Const(0, I32), I32)
        later = convert(select(begun, later, first), r.values[0].dtype)
    along = [v == axis for v, k in zip(r.loops, r.kinds, strict=True) if k is not DimKind.PW]
    moved = tuple(
        replace(x, point=tuple(p.shift(1) if a else p for p, a in zip(x.point, along, strict=True)))
        for x in r.members
    )
    begin = repeated(r.op, at_first(first, axis))
    o, target = r.outputs[0], element(r.targets[0], shifted)
    return replace(
        r,
        loops=tuple(grown if v == axis else v for v in r.loops),
        values=(later,),
        starts=(begin,),
        targets=(target,),
        outputs=(replace(o, index=target.index, value=shifted(o.value)),),
        members=(*moved, *_members(m, r, names, Phase.START, m.targets[0])),
    )


def element(e: Load, f: Callable[[Expr], Expr]) -> Load:
    """`e` with `f` applied to its subscripts."""
    return replace(e, index=tuple(f(i) for i in e.index))


def _affine_parts(e: Expr) -> Expr:
    """`e` with its affine integer parts in canonical form, so that equal ones are equal expressions."""
    aff = from_expr(e) if e.dtype == I32 else None
    return map_children(e, _affine_parts) if aff is None else to_expr(aff)


def _with_epilogues(out: list[Piece], number: int, text: Sequence[Written]) -> list[Piece]:
    r = _reduction(out, number)
    overwritten: set[str] = set()
    for f in out[_place(out, r) + 1 :]:
        if any(t.buffer in overwritten for t in r.targets):
            break
        whole = _finished(r, f) if f.op is None else None
        if whole is not None and keeps(_joined(out, r, f, whole), whole, text):
            out, r = _joined(out, r, f, whole), whole
        else:
            overwritten |= f.writes
    return out


def _later(out: list[Piece], r: Piece, text: Sequence[Written]) -> list[Piece]:
    """The pieces that run after r: those behind it, and all of a loop of the program around both, r among
    them."""
    at, held = _place(out, r) + 1, turns_around(text[r.accumulator].statement)
    if not held:
        return out[at:]
    around = [turns_around(text[p.accumulator].statement) for p in out]
    return [p for n, p in enumerate(out) if n >= at or around[n][:1] == held[:1]]


def _without_unread(
    out: list[Piece], number: int, temps: frozenset[str], text: Sequence[Written]
) -> list[Piece]:
    """The pieces without stores to arrays of the function's own that nothing reads later."""
    r = _reduction(out, number)
    later = _later(out, r, text)
    keep = tuple(o for o in r.outputs if o.buffer not in temps or any(o.buffer in p.reads for p in later))
    return [replace(r, outputs=keep or r.outputs) if p is r else p for p in out]


def _with_total(out: list[Piece], number: int, temps: frozenset[str], text: Sequence[Written]) -> list[Piece]:
    """The pieces without stores of running values that nothing reads later."""
    r = _reduction(out, number)
    cell, at = r.targets[0], _place(out, r) + 1
    if any(o.buffer == cell.buffer for o in r.outputs):
        return out
    if cell.buffer in temps and not any(cell.buffer in p.reads for p in _later(out, r, text)):
        return out
    kinds = tuple(DimKind.PW if k is DimKind.PS else k for k in r.kinds)
    store = Output(cell.buffer, cell.index, Var(component(0), r.values[0].dtype), r.span)
    along = [k is DimKind.PS for k in r.kinds if k is not DimKind.PW]
    members = tuple(
        replace(m, point=tuple(p for p, a in zip(m.point, along, strict=True) if not a))
        for m in r.members
        if m.number == number or m.phase == Phase.START
    )
    total = replace(r, kinds=kinds, outputs=(store,), members=members, exclusive=False)
    return [*out[:at], total, *out[at:]]


def _finished(r: Piece, f: Piece) -> Piece | None:
    """r with `f` as an epilogue of one of its results; None if f is no epilogue of it."""
    for t in r.targets:
        read = [x for x in loads(f.values[0]) if x.buffer == t.buffer]
        if not read or any(x != read[0] for x in read):
            continue
        names = _renaming(read[0].index, t.index, f, r)
        mine = next((o for o in r.outputs if o.buffer == t.buffer), None)
        if names is None or mine is None or any(x.buffer == t.buffer for x in loads(mine.value)):
            # a value that overwrites the element which it reads is not computed a second time
            return None
        value = replace_load(substitute(f.values[0], names), t, mine.value)
        if not is_small(value):
            # `y = y > 0 ? y + b : y - b` three times, merged, would read the sum eight times: they stay
            # stages
            return None
        written = f.targets[0]
        new = Output(written.buffer, tuple(substitute(e, names) for e in written.index), value, f.span)
        phase = max(Phase.UPDATE, *(m.phase for m in r.members)) + 1
        before = (*r.members, *_computed_again(r, mine, phase))
        if new.buffer != t.buffer:
            members = (*before, *_members(f, r, names, phase, read[0]))
            return replace(r, outputs=(*r.outputs, new), members=members)
        if new.index != t.index:
            return None
        members = (*before, *_members(f, r, names, phase, read[0], written))
        return replace(r, outputs=tuple(new if o is mine else o for o in r.outputs), members=members)
    return None


def _computed_again(r: Piece, o: Output, phase: int) -> tuple[PieceMember, ...]:
    """Statements whose reads are a part of the value of output `o`, which a later epilogue starts with."""
    if next(loads(o.value), None) is None:
        return ()
    return tuple(replace(m, phase=phase, again=True) for m in r.members if not m.again)


def _renaming(a: tuple[Expr, ...], b: tuple[Expr, ...], m: Piece, r: Piece) -> dict[str, Expr] | None:
    """Loop variables of m -> those of r such that index a becomes b, over exactly r's cc dimensions; None if
    there are none."""
    if len(a) != len(b):
        return None
    extents = {v.name: v.extent for v in (*m.loops, *r.loops)}
    names: dict[str, str] = {}
    for x, y in zip(a, b, strict=True):
        p, q = from_expr(x), from_expr(y)
        if p is None or q is None:
            return None
        # counters of loops around stages mean the same on both sides
        turns = [{t for t in f.terms if t[0] not in extents} for f in (p, q)]
        p, q = (Affine(tuple(t for t in f.terms if t[0] in extents), f.const) for f in (p, q))
        if turns[0] != turns[1] or p.const != q.const or len(p.terms) != len(q.terms):
            return None
        for (n, c), (k, d) in zip(
            sorted(p.terms, key=lambda t: t[1]), sorted(q.terms, key=lambda t: t[1]), strict=True
        ):
            if c != d or extents[n] != extents[k] or names.setdefault(n, k) != k:
                return None
    cc = {v.name for v, k in zip(r.loops, r.kinds, strict=True) if k is DimKind.CC}
    reduced = {v.name for v in r.loops} - cc
    if set(names) != {v.name for v in m.loops} or set(names.values()) != cc or used_names(b) & reduced:
        return None
    if len(names) != len(cc):
        # two loops of m became one of r, so r would only cover the diagonal
        return None
    return {n: Var(k) for n, k in names.items()}
