"""The opposite of a condition."""

from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr


def negation(cond: Expr) -> Expr:
    """The condition that `cond` is 0."""
    if isinstance(cond, Const):
        return Const(int(not cond.value), I32)
    return Binary("==", cond, convert(Const(0, I32), cond.dtype), I32)
