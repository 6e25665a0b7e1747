"""Two terms of a sum that a change of what is carried multiplies by different factors."""

import math
from collections.abc import Mapping

from mdh.ir.affine import from_expr, to_expr
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Unary, loads, map_children


def normal(e: Expr) -> Expr:
    """The expression with its subscripts in one form."""
    e = map_children(e, normal)
    if not isinstance(e, Load):
        return e
    forms = [from_expr(i) for i in e.index]
    index = tuple(i if f is None else to_expr(f) for i, f in zip(e.index, forms, strict=True))
    return Load(e.buffer, index, e.dtype, e.lanes)


def witness(value: Expr, t: Load) -> tuple[tuple[str, float], ...]:
    """Two terms, the value of `t` before and after a change, and the factors by which they change."""
    others = list(dict.fromkeys(normal(x) for x in loads(value) if x.buffer != t.buffer))
    before, after = 2.0, 3.0
    rows = []
    for point in (1.0, 1.5):
        known: dict[Expr, float] = {x: point + 0.25 * n for n, x in enumerate(others)}
        was, now = (_number(normal(value), {**known, normal(t): at}) for at in (before, after))
        if was is None or now is None or was == 0:
            return ()
        rows.append((known, now / was))
    if math.isclose(rows[0][1], rows[1][1], rel_tol=1e-9):
        return ()
    out = [(f"{t.buffer} before", before), (f"{t.buffer} after", after)]
    for n, (known, ratio) in zip(("first", "second"), rows, strict=True):
        out += [(f"{x.buffer} of the {n} term", v) for x, v in known.items() if isinstance(x, Load)]
        out.append((f"factor of the {n} term", round(ratio, 6)))
    return tuple(out)


def _number(e: Expr, known: Mapping[Expr, float]) -> float | None:
    """The value of an expression of real numbers; None where it has none, or reads what is not known."""
    try:
        return _real(e, known)
    except (ArithmeticError, ValueError, KeyError, TypeError):
        return None


def _real(e: Expr, known: Mapping[Expr, float]) -> float:
    match e:
        case Const(value, _):
            return float(value)
        case Cast(arg, _):
            return _real(arg, known)
        case Unary("-", arg, _):
            return -_real(arg, known)
        case Binary("+", left, right, _):
            return _real(left, known) + _real(right, known)
        case Binary("-", left, right, _):
            return _real(left, known) - _real(right, known)
        case Binary("*", left, right, _):
            return _real(left, known) * _real(right, known)
        case Binary("/", left, right, _):
            return _real(left, known) / _real(right, known)
        case Call("exp", (arg,), _):
            return math.exp(_real(arg, known))
        case Call("exp2", (arg,), _):
            return math.exp2(_real(arg, known))
        case Call("fabs", (arg,), _):
            return abs(_real(arg, known))
        case Call("sqrt", (arg,), _):
            return math.sqrt(_real(arg, known))
        case Call("tanh", (arg,), _):
            return math.tanh(_real(arg, known))
        case _:
            return known[e]
