"""64 bits for the index arithmetic that leaves int's range, and for no more of it than that.

An operation with one 64-bit operand is done in 64 bits, as in C, so one cast widens a whole sum.
"""

from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32, I64
from mdh.ir.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Load, Select, Var, map_children, walk
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.ranges import INT, Known, Range, bounds, within


def fit(e: Expr, known: Known) -> Expr:
    """`e` with the value that exact arithmetic gives, for all values its variables can take here.

    Data and what is computed from data follow C's rules and stay as they are.
    """
    if isinstance(e, Const) and e.dtype == I32 and not _inside(e, known):
        return Const(e.value, I64)
    if isinstance(e, Load):
        return Load(e.buffer, tuple(subscript(i, known) for i in e.index), e.dtype, e.lanes)
    if e.dtype != I32 or _holds(e, known):
        return map_children(e, lambda c: fit(c, known)) if any(isinstance(n, Load) for n in walk(e)) else e
    affine = from_expr(e)
    if affine is not None and all(n in known.names for n in affine.names):
        return sum_of(affine, known)
    match e:
        case Var(name, _):
            return Var(name, I64)
        case Binary(op, left, right, _) if op in COMPARISONS:
            return Binary(op, fit(left, known), fit(right, known), I32)
        case Binary(op, left, right, _):
            a, b = fit(left, known), fit(right, known)
            if I64 not in (a.dtype, b.dtype) and not _inside(e, known):
                a = Cast(a, I64)
            return Binary(op, a, b, I64 if I64 in (a.dtype, b.dtype) else I32)
        case Select(cond, then, other, _):
            a, b = fit(then, known), fit(other, known)
            return Select(fit(cond, known), a, b, I64 if I64 in (a.dtype, b.dtype) else I32)
        case Call(Intrinsic.IMIN | Intrinsic.IMAX as fn, args, _):
            new = tuple(fit(a, known) for a in args)
            wide = any(a.dtype == I64 for a in new)
            return Call(fn, tuple(cast(a) for a in new), I64) if wide else Call(fn, new, I32)
        case _:
            return map_children(e, lambda c: fit(c, known))


def subscript(e: Expr, known: Known) -> Expr:
    """A subscript whose affine part is left to the target, which adds up the dims' strides."""
    if isinstance(e, Const) and isinstance(e.value, int):
        return e
    if from_expr(e) is not None:
        return e
    match e:
        case Binary("+" | "-" as op, left, right, t):
            return Binary(op, subscript(left, known), subscript(right, known), t)
        case Binary("*", left, Const() as n, t):
            return Binary("*", subscript(left, known), n, t)
        case _:
            return fit(e, known)


def sum_of(a: Affine, known: Known) -> Expr:
    """The affine function: as many of its largest terms as must be in 64 bits, the rest as a sum in 32."""
    if not a.terms and not within((a.const, a.const)):
        return Const(a.const, I64)
    terms = sorted(a.terms, key=lambda t: (t[1] < 0, -abs(t[1]), t[0]))
    for k in range(len(terms) + 1):
        rest = Affine.of(dict(terms[k:]), a.const)
        if _sum_holds(rest, known):
            return _joined(terms[:k], rest, known) if k else to_expr(rest)
    return _joined(terms, Affine((), a.const), known)


def _joined(lead: list[tuple[str, int]], rest: Affine, known: Known) -> Expr:
    """The terms of `lead` in 64 bits, then `rest`: one sum in 32 bits, or a constant of 64."""
    out: Expr | None = None
    for name, c in lead:
        r = _range(name, known)
        product = r[0] * abs(c), r[1] * abs(c)
        alone = out is None or not within((min(product), max(product)))
        factor: Expr = Var(name, I32 if within(r) else I64)
        if alone:
            factor = cast(factor)
        scale = Const(abs(c), I32 if abs(c) <= INT[1] else I64)
        term = factor if abs(c) == 1 else Binary("*", factor, scale, I64 if alone else I32)
        if out is None:
            out = term if c > 0 else Binary("-", Const(0, I64), term, I64)
        else:
            out = Binary("+" if c > 0 else "-", out, term, I64)
    assert out is not None
    if not rest.terms:
        n = abs(rest.const)
        constant = Const(n, I32 if n <= INT[1] else I64)
        return out if n == 0 else Binary("+" if rest.const > 0 else "-", out, constant, I64)
    if all(c < 0 for _, c in rest.terms) and rest.const <= 0:
        return Binary("-", out, to_expr(rest.scale(-1)), I64)
    return Binary("+", out, to_expr(rest), I64)


def cast(e: Expr) -> Expr:
    return e if e.dtype == I64 else Cast(e, I64)


def _sum_holds(a: Affine, known: Known) -> bool:
    """Every order of adding the terms stays inside int."""
    least, most = min(a.const, 0), max(a.const, 0)
    for name, c in a.terms:
        r = _range(name, known)
        ends = (r[0] * c, r[1] * c)
        least, most = least + min(*ends, 0), most + max(*ends, 0)
        if not within(r) or abs(c) > INT[1]:
            return False
    return within((least, most))


def _range(name: str, known: Known) -> Range:
    return known.names.get(name, INT)


def _inside(e: Expr, known: Known) -> bool:
    r = bounds(e, known)
    return r is None or within(r)


def _holds(e: Expr, known: Known) -> bool:
    """No operation of `e` (outside of subscripts) leaves int's range."""
    if isinstance(e, Load):
        return True
    if e.dtype == I32 and not _inside(e, known):
        return False
    match e:
        case Binary():
            return _holds(e.left, known) and _holds(e.right, known)
        case Select():
            return all(_holds(x, known) for x in (e.cond, e.then, e.other))
        case Call():
            return all(_holds(x, known) for x in e.args)
        case Cast():
            return _holds(e.arg, known)
        case _:
            return True
