"""Pieces to fewer pieces: an initialiser becomes a start, a finishing statement an epilogue."""

from collections.abc import Callable
from dataclasses import replace

from mdh.frontend.conversions import strip
from mdh.frontend.loops import MOST_TRIPS
from mdh.frontend.pieces import Piece, replace_load, used_names
from mdh.frontend.scans import fixed, repeated
from mdh.frontend.typing_rules import convert, select
from mdh.frontend.updates import identity
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, loads, map_children, substitute
from mdh.ir.program import DimKind, Output, component


def merged(pieces: list[Piece], temps: frozenset[str]) -> list[Piece]:
    """Init–reduce–finish chains become one piece each."""
    out = list(pieces)
    for combine in list(pieces):
        if combine.op is None:
            continue
        _initialisers(out, combine)
        _finishers(out, combine, temps)
    return out


def _initialisers(out: list[Piece], r: Piece) -> None:
    for c, target in enumerate(r.targets):
        at = out.index(r)
        for k in range(at - 1, -1, -1):
            m = out[k]
            if target.buffer not in m.writes():
                if target.buffer in m.reads():
                    break
                continue
            moves = not any(out[x].writes() & m.reads() for x in range(k + 1, at))
            if m.op is None and moves and (_peeled(m, r) or _initialiser(m, r, c)):
                out.pop(k)
                r.merged |= m.members | r.members
                r.number = min(r.number, m.number)
            break


def _initialiser(m: Piece, r: Piece, c: int) -> bool:
    """Let component c of r begin with what m stores; False where m is no such thing."""
    target, start = r.targets[c], r.starts[c]
    names = _renaming(m.targets[0].index, target.index, m, r)
    if names is None:
        return False
    stored = substitute(m.values[0], names)
    if start is None and len(r.outputs) == 1 and target in loads(r.outputs[0].value):
        o = r.outputs[0]
        r.outputs = (replace(o, value=replace_load(o.value, target, stored)),)
        return True
    if start is None or strip(start, target.dtype) != target:
        return False
    value: Expr | None = replace_load(start, target, stored)
    if isinstance(value, Const) and r.op is not None and value == identity(r.op, value.dtype):
        value = None if len(r.targets) == 1 else value
    r.starts = tuple(value if i == c else s for i, s in enumerate(r.starts))
    return True


def _peeled(m: Piece, r: Piece) -> bool:
    """`S[0] = y; for (i = 1; …) S[i] = S[i-1] + x;`: the prefix sum r begins at m's element."""
    axes = [v for v, k in zip(r.loops, r.kinds, strict=True) if k is DimKind.PS]
    before = None if r.starts[0] is None else strip(r.starts[0], r.targets[0].dtype)
    if len(axes) != 1 or r.exclusive or not isinstance(before, Load) or before.buffer != r.targets[0].buffer:
        return False
    axis = axes[0]
    if axis.extent == MOST_TRIPS or len(r.outputs) != 1 or r.outputs[0].index != r.targets[0].index:
        return False
    names = _renaming(m.targets[0].index, before.index, m, r)
    if names is None:
        return False
    grown = replace(axis, start=axis.start - axis.step, extent=axis.extent + 1)

    def shifted(e: Expr) -> Expr:
        return _affine_parts(substitute(e, {axis.name: to_expr(Affine.of({axis.name: 1}, -1))}))

    first, later = convert(substitute(m.values[0], names), r.values[0].dtype), shifted(r.values[0])
    if fixed(later, {axis.name: 0}) != _affine_parts(first):
        begun = Binary(">", Var(axis.name), Const(0, I32), I32)
        later = convert(select(begun, later, first), r.values[0].dtype)
    r.loops = tuple(grown if v == axis else v for v in r.loops)
    begin = None if r.op is None else repeated(r.op, fixed(first, {axis.name: 0}))
    r.values, r.starts = (later,), (begin,)
    o = r.outputs[0]
    r.targets = (element(r.targets[0], shifted),)
    r.outputs = (replace(o, index=r.targets[0].index, value=shifted(o.value)),)
    return True


def element(e: Load, f: Callable[[Expr], Expr]) -> Load:
    """`e` with `f` applied to its subscripts."""
    return replace(e, index=tuple(f(i) for i in e.index))


def _affine_parts(e: Expr) -> Expr:
    """`e` with its affine integer parts written in their one form, so that equal ones look equal."""
    aff = from_expr(e) if e.dtype == I32 else None
    return map_children(e, _affine_parts) if aff is None else to_expr(aff)


def _finishers(out: list[Piece], r: Piece, temps: frozenset[str]) -> None:
    if any(k is DimKind.PS for k in r.kinds):
        _drop_running(out, r, temps)
        return
    at = out.index(r) + 1
    skipped: list[Piece] = []
    while at < len(out):
        f = out[at]
        merged_ = _finish(r, f) if f.op is None and _free(skipped, f) else None
        if merged_ is None:
            skipped.append(f)
            at += 1
            continue
        out.pop(at)
        r.outputs = merged_
        r.merged |= f.members
    later = out[out.index(r) + 1 :]
    keep = tuple(o for o in r.outputs if o.buffer not in temps or any(o.buffer in p.reads() for p in later))
    r.outputs = keep or r.outputs


def _drop_running(out: list[Piece], r: Piece, temps: frozenset[str]) -> None:
    """The running value itself is stored only where something reads it later."""
    cell = r.targets[0]
    if any(o.buffer == cell.buffer for o in r.outputs):
        return
    if cell.buffer in temps and not any(cell.buffer in p.reads() for p in out[out.index(r) + 1 :]):
        return
    kinds = tuple(DimKind.PW if k is DimKind.PS else k for k in r.kinds)
    held = r.values[0].dtype
    store = Output(cell.buffer, cell.index, Var(component(0), held), r.span)
    total = replace(r, kinds=kinds, outputs=(store,), exclusive=False, merged=set())
    out.insert(out.index(r) + 1, total)


def _free(skipped: list[Piece], f: Piece) -> bool:
    """`f` may move before the pieces it skips."""
    return not any(p.writes() & (f.reads() | f.writes()) or p.reads() & f.writes() for p in skipped)


def _finish(r: Piece, f: Piece) -> tuple[Output, ...] | None:
    """r's outputs with `f` as an epilogue of one of its results, None where f is no such thing."""
    for t in r.targets:
        read = [x for x in loads(f.values[0]) if x.buffer == t.buffer]
        if not read or any(x != read[0] for x in read):
            continue
        names = _renaming(read[0].index, t.index, f, r)
        if names is None or any(x.buffer in r.writes() - {t.buffer} for x in loads(f.values[0])):
            return None
        mine = next((o for o in r.outputs if o.buffer == t.buffer), None)
        if mine is None:
            return None
        value = replace_load(substitute(f.values[0], names), t, mine.value)
        new = Output(
            f.targets[0].buffer, tuple(substitute(e, names) for e in f.targets[0].index), value, f.span
        )
        if new.buffer == t.buffer:
            return None if new.index != t.index else tuple(new if o is mine else o for o in r.outputs)
        return (*r.outputs, new)
    return None


def _renaming(a: tuple[Expr, ...], b: tuple[Expr, ...], m: Piece, r: Piece) -> dict[str, Expr] | None:
    """Loop variables of m → those of r such that index a becomes b, over exactly r's cc dims."""
    if len(a) != len(b):
        return None
    extents = {v.name: v.extent for v in (*m.loops, *r.loops)}
    names: dict[str, str] = {}
    for x, y in zip(a, b, strict=True):
        p, q = from_expr(x), from_expr(y)
        if p is None or q is None or p.const != q.const or len(p.terms) != len(q.terms):
            return None
        for (n, c), (k, d) in zip(
            sorted(p.terms, key=lambda t: t[1]), sorted(q.terms, key=lambda t: t[1]), strict=True
        ):
            if c != d or extents[n] != extents[k] or names.setdefault(n, k) != k:
                return None
    cc = {v.name for v, k in zip(r.loops, r.kinds, strict=True) if k is DimKind.CC}
    if set(names) != {v.name for v in m.loops} or set(names.values()) != cc or used_names(b) - cc:
        return None
    return {n: Var(k) for n, k in names.items()}


def stored(r: Piece) -> Load:
    return r.targets[0]
