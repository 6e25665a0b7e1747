"""Sums of products of two arrays: what tensor cores and libraries of linear algebra compute."""

from mdh.ir.expr import Binary, Load, without_casts
from mdh.ir.program import Stage


def product_sum(stage: Stage) -> tuple[Load, Load] | None:
    """The two reads whose products the stage sums as its only result, casts of them left out; None where it
    computes something else."""
    if len(stage.results) != 1 or stage.lets:
        return None
    result = stage.results[0]
    value = without_casts(result.values[0])
    if result.op is None or result.op.name != "+" or not (isinstance(value, Binary) and value.op == "*"):
        return None
    left, right = without_casts(value.left), without_casts(value.right)
    return (left, right) if isinstance(left, Load) and isinstance(right, Load) else None
