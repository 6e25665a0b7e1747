"""From a multi-dimensional index to one offset: strides folded, constants gathered, 64 bits where needed."""

from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32, I64, DType
from mdh.ir.expr import Binary, Cast, Const, Expr, Unary, Var, substitute
from mdh.ir.kernel import Buf, Space

WIDE = 1 << 31
"""Elements from which an offset no longer fits C's int."""


def offset(buf: Buf, index: tuple[Expr, ...], extra: int = 0) -> Expr:
    """The element (vector, where buf.lanes > 1) that `index` names, `extra` elements on.

    The affine part comes first, largest stride first; data-dependent parts follow.
    """
    affine = Affine((), extra)
    rest: list[tuple[Expr, int]] = []
    for i, stride in zip(index, buf.strides, strict=True):
        part, terms = _split(i, stride)
        affine = affine + part
        rest.extend(terms)
    wide = buf.space is Space.DM and buf.elements >= WIDE
    dtype = I64 if wide else I32
    out = _wide_affine(affine) if wide else to_expr(affine)
    for opaque, scale in rest:
        term = Cast(opaque, I64) if wide else opaque
        if abs(scale) != 1:
            term = Binary("*", term, Const(abs(scale), dtype), dtype)
        if out == Const(0, dtype):
            out = term if scale > 0 else Unary("-", term, dtype)
        else:
            out = Binary("+" if scale > 0 else "-", out, term, dtype)
    return out


def _split(e: Expr, scale: int) -> tuple[Affine, list[tuple[Expr, int]]]:
    """`e * scale` as an affine part and scaled opaque terms."""
    if scale == 0:
        return Affine(), []
    affine = from_expr(e)
    if affine is not None:
        return affine.scale(scale), []
    match e:
        case Binary("+" | "-" as op, left, right, _):
            a, opaque = _split(left, scale)
            b, more = _split(right, scale if op == "+" else -scale)
            return a + b, opaque + more
        case Binary("*", left, Const(int() as factor), _) | Binary("*", Const(int() as factor), left, _):
            return _split(left, scale * factor)
        case _:
            return Affine(), [(e, scale)]


def _wide_affine(a: Affine) -> Expr:
    """Every variable is widened before it is scaled; a sum that starts wide stays wide."""
    names = dict(a.terms)
    lead = max(names, key=lambda n: (names[n] > 0, abs(names[n]), n), default=None)
    casts: dict[str, Expr] = {n: Cast(Var(n, I32), I64) for n, c in a.terms if abs(c) != 1 or n == lead}
    return substitute(to_expr(a, I64), casts)


def counter_type(*bounds: Expr) -> DType:
    """The type of a loop variable: 64 bits where a bound is."""
    return I64 if any(b.dtype.bits == 64 for b in bounds) else I32
