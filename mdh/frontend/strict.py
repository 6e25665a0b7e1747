"""--strict-fp: sums and products of floats as C has them, one point after another, in the stored type."""

from dataclasses import replace

from mdh.ir.dtype import DType
from mdh.ir.expr import Cast, Expr
from mdh.ir.program import Result


def ordered(result: Result, stored: DType) -> Result:
    """The result whose state begins at its start and is rounded to `stored` whenever a point joins it.

    What joins a 16-bit sum is computed in float and not rounded by itself: C's excess precision, which ends
    at an assignment (C11 6.3.1.8).
    """
    op, held = result.op, result.types[0]
    if op is None or op.name not in ("+", "*") or not held.is_float:
        return result
    starts = tuple(None if s is None else _rounded(s, stored) for s in result.starts)
    return replace(
        result, op=replace(op, ordered=True, rounded=None if stored == held else stored), starts=starts
    )


def _rounded(start: Expr, stored: DType) -> Expr:
    if start.dtype == stored or (isinstance(start, Cast) and start.arg.dtype == stored):
        return start
    return Cast(Cast(start, stored), start.dtype)
