"""From a multi-dimensional index to one offset: strides folded, constants gathered, 64 bits where needed."""

from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32, I64, DType
from mdh.ir.expr import Binary, Cast, Const, Expr, Unary, Var, substitute
from mdh.ir.kernel import Buf
from mdh.ir.layout import row_major
from mdh.ir.ranges import INT, Known, Range, bounds
from mdh.ir.width import sum_of

WIDE = INT[1] + 1
"""Elements from which an offset no longer fits C's int."""

Opaque = tuple[Expr, int, Range]
"""A part of a subscript that depends on data: the expression, its stride, its range in a legal access."""


def offset(buf: Buf, index: tuple[Expr, ...], known: Known, extra: int = 0) -> Expr:
    """The element (vector, where buf.lanes > 1) that `index` names, `extra` elements on.

    The affine part comes first, largest stride first; data-dependent parts follow. Parts whose strides open
    sizes give stand before it.
    """
    if any(buf.open[1:]):
        return _open_offset(buf, index, known, extra)
    affine = Affine((), extra)
    rest: list[Opaque] = []
    for i, n, stride in zip(index, buf.shape, buf.strides, strict=True):
        if isinstance(i, Const) and isinstance(i.value, int):
            affine = affine.shift(i.value * stride)
            continue
        part, terms = _split(i, 1)
        affine = affine + part.scale(stride)
        ends = _ends(part, known)
        for e, scale in terms:
            # a legal subscript is 0 … n-1, so what the affine part leaves is all that data can add
            r = bounds(e, known) or tuple(sorted(x // scale for x in (-ends[1], n - 1 - ends[0])))
            rest.append((e, scale * stride, (r[0], r[1])))
    if abs(affine.const) >= WIDE or (buf.space is Space.DM and buf.elements >= WIDE):
        return _wide(affine, rest, known)
    out = to_expr(affine)
    for opaque, scale, _ in rest:
        out = _plus(out, opaque, scale)
    return out


def _open_offset(buf: Buf, index: tuple[Expr, ...], known: Known, extra: int) -> Expr:
    """The same where open sizes give strides: products of the extents behind each dimension."""
    last = max(k for k, extent in enumerate(buf.open) if extent is not None)
    inner = replace(buf, shape=buf.shape[last:], strides=row_major(buf.shape[last:]), open=())
    out = offset(inner, index[last:], known, extra)
    wide = buf.elements >= WIDE
    for k in reversed(range(last)):
        affine = from_expr(index[k])
        e = index[k] if affine is None else to_expr(affine)
        if e == Const(0, I32):
            continue
        term = Cast(e, I64) if wide else e
        for n, extent in zip(buf.shape[k + 1 :], buf.open[k + 1 :], strict=True):
            factor = Const(n, I32) if extent is None else extent.expr
            if factor != Const(1, I32):
                term = Binary("*", term, factor, term.dtype)
        out = term if out == Const(0, I32) else Binary("+", term, out, term.dtype)
    return out


def as_long(e: Expr) -> Expr:
    """A sum in 64 bits from its first term on; a single term stays as it is."""
    if not isinstance(e, Binary) or e.op not in ("+", "-") or e.dtype != I32:
        return e
    match e.left:
        case Var(_, dtype) if dtype == I32:
            first: Expr = Cast(e.left, I64)
        case Binary("*", Var(_, dtype) as var, factor, _) if dtype == I32:
            first = Binary("*", Cast(var, I64), factor, I64)
        case _:
            first = as_long(e.left)
    return replace(e, left=first, dtype=first.dtype)


def _wide(affine: Affine, rest: list[Opaque], known: Known) -> Expr:
    """The sum with data-dependent parts as variables of their own, which are put in afterwards."""
    names: dict[str, Expr] = {}
    for opaque, scale, r in rest:
        name = f"@{len(names)}"
        names[name] = opaque
        affine = affine + Affine.var(name).scale(scale)
        known = known.holding(name, r)
    return substitute(sum_of(affine, known), names)


def _plus(out: Expr, term: Expr, scale: int) -> Expr:
    if abs(scale) != 1:
        term = Binary("*", term, Const(abs(scale), I32), I32)
    if out == Const(0, I32):
        return term if scale > 0 else Unary("-", term, I32)
    return Binary("+" if scale > 0 else "-", out, term, I32)


def _ends(a: Affine, known: Known) -> Range:
    return a.bounds({n: known.names.get(n, INT) for n in a.names})


def _split(e: Expr, scale: int) -> tuple[Affine, list[tuple[Expr, int]]]:
    """`e * scale` as an affine part and scaled opaque terms."""
    affine = from_expr(e)
    if affine is not None:
        return affine.scale(scale), []
    match e:
        case Binary("+" | "-" as op, left, right, _):
            a, opaque = _split(left, scale)
            b, more = _split(right, scale if op == "+" else -scale)
            return a + b, opaque + more
        case Binary("*", left, Const(int() as factor), _) | Binary("*", Const(int() as factor), left, _):
            return _split(left, scale * factor) if factor else (Affine(), [])
        case _:
            return Affine(), [(e, scale)]


def counter_type(*bounds: Expr) -> DType:
    """The type of a loop variable: 64 bits where a bound is."""
    return I64 if any(b.dtype.bits == 64 for b in bounds) else I32
