"""Sums of products, which tensor cores and linear-algebra libraries compute."""

from mdh.ir.expr import Binary, Cast, Expr, Load, without_casts
from mdh.ir.program import Operator, Stage


def product_sum(stage: Stage) -> tuple[Load, Load] | None:
    """The two loads whose products the stage sums as its only result, without casts; None for any other
    stage."""
    if len(stage.results) != 1 or stage.lets:
        return None
    result = stage.results[0]
    factors = summed_product(result.op, without_casts(result.values[0]))
    if factors is None:
        return None
    left, right = map(without_casts, factors)
    return (left, right) if isinstance(left, Load) and isinstance(right, Load) else None


def summed_product(op: Operator | None, value: Expr) -> tuple[Expr, Expr] | None:
    """The two factors if `op` is a sum and `value` is a product, else None. Casts of the product to a wider
    float are removed, since they are exact."""
    while isinstance(value, Cast) and _widens(value):
        value = value.arg
    adds = op is not None and op.name == "+"
    return (value.left, value.right) if adds and isinstance(value, Binary) and value.op == "*" else None


def _widens(cast: Cast) -> bool:
    source = cast.arg.dtype
    return cast.dtype.is_float and source.is_float and cast.dtype.bits >= source.bits
