"""Factors that all terms of a sum share, taken out of it: one product a result in place of one a term.

Sum of c * x over a dim is c * (sum of x): the distributive law, for real numbers; floats round otherwise, so
that sums that must keep C's order (`--strict-fp`) stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Const, Expr, Var
from mdh.ir.program import DimKind, Result, Stage


@dataclass(frozen=True, slots=True)
class Factored:
    """A term as `factor` (None: one) times `rest`."""

    factor: Expr | None
    rest: Expr


def factored(stage: Stage, result: Result) -> Factored:
    """The first value of `result` with the scalars and constants that multiply it apart."""
    value, op = result.values[0], result.op
    whole = Factored(None, value)
    if op is None or op.name != "+" or op.ordered or op.rounded is not None or not value.dtype.is_float:
        return whole
    if stage.scattered or any(d.kind is DimKind.PS for d in stage.dims):
        return whole  # terms of a histogram meet in its output, a scan's sums are results themselves
    varying = {d.name for d in stage.dims} | {let.name for let in stage.lets}
    factors = _factors(value, value.dtype)
    same = [f for f in factors if isinstance(f, Const) or (isinstance(f, Var) and f.name not in varying)]
    rest = [f for f in factors if f not in same]
    if not same or not rest or result.types[0] != value.dtype:
        return whole
    return Factored(_product(same), _product(rest))


def _factors(e: Expr, t: DType) -> list[Expr]:
    if isinstance(e, Binary) and e.op == "*" and e.dtype == t:
        return [*_factors(e.left, t), *_factors(e.right, t)]
    return [e]


def _product(factors: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: Binary("*", a, b, a.dtype), factors)
