"""Index arithmetic that can leave int's range is done in 64 bits: guards, bounds, counters, definitions.

Requires: names that hide no other. Guarantees: every condition, loop bound and integer definition has its
exact value; a loop variable or definition that needs 64 bits has a 64-bit type. The affine part of a
subscript is the target's to widen, for only there the strides are added up.
"""

from dataclasses import replace

from mdh.ir.affine import from_expr
from mdh.ir.dtype import I32, I64
from mdh.ir.expr import Cast, Const, Expr, Load, map_children, mapped
from mdh.ir.kernel import Atomic, For, If, Launch, Let, Move, Stmt, Store, While
from mdh.ir.ranges import Known, loop_range, within
from mdh.ir.width import fit, subscript, sum_of


def widen_indices(body: tuple[Stmt, ...], launch: Launch) -> tuple[Stmt, ...]:
    return _body(body, Known.of(launch))


def _body(body: tuple[Stmt, ...], known: Known) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        new = _statement(s, known)
        if isinstance(new, Let):
            known = known.after(new)
        out.append(new)
    return tuple(out)


def _statement(s: Stmt, known: Known) -> Stmt:
    match s:
        case Let():
            return _let(s, known)
        case For():
            return _loop(s, known)
        case If():
            then = _body(s.then, known.where(s.cond))
            return If(fit(s.cond, known), then, _body(s.orelse, known))
        case While():
            return While(fit(s.cond, known), _body(s.body, known))
        case Store() | Atomic():
            index, value = mapped(s.index, lambda i: subscript(i, known)), _loads(s.value, known)
            return s if index is s.index and value is s.value else replace(s, index=index, value=value)
        case Move():
            here = known if s.pred is None else known.where(s.pred)
            return replace(
                s,
                dst_index=tuple(subscript(i, here) for i in s.dst_index),
                src_index=tuple(subscript(i, here) for i in s.src_index),
                pred=None if s.pred is None else fit(s.pred, known),
            )
        case _:
            return s


def _let(s: Let, known: Known) -> Let:
    if s.dtype != I32:
        affine = from_expr(s.value) if s.dtype == I64 else None
        if affine is not None and all(n in known.names for n in affine.names):
            return replace(s, value=sum_of(affine, known))
        return replace(s, value=_loads(s.value, known))
    value = fit(s.value, known)
    if value.dtype != I64:
        return replace(s, value=value)
    r = known.after(s).names.get(s.name)
    if r is not None and not within(r):
        return replace(s, value=value, dtype=I64)
    return replace(s, value=Cast(value, I32))


def _loop(s: For, known: Known) -> For:
    """The counter is as wide as its bounds, and must hold the value at which the loop ends."""
    start, stop, step = (fit(e, known) for e in (s.start, s.stop, s.step))
    r = loop_range(s, known)
    if r is not None and not within(r) and isinstance(stop, Const):
        stop = replace(stop, dtype=I64)
    return replace(s, start=start, stop=stop, step=step, body=_body(s.body, known.within_loop(s)))


def _loads(e: Expr, known: Known) -> Expr:
    """A value: its arithmetic is the C function's own, only subscripts inside it are looked at."""
    if isinstance(e, Load):
        index = mapped(e.index, lambda i: subscript(i, known))
        return e if index is e.index else replace(e, index=index)
    return map_children(e, lambda c: _loads(c, known))
