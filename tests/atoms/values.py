"""Expressions of kernel IR as functions of a warp, made once for each.

An interpreter that looks at the kind of each expression every time that a warp comes to it takes twice as
long.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Const, Expr, Var
from tests.atoms.blocks import numpy_type

Evaluator = Callable[[Any], Any]
"""From a warp (`tests.atoms.lanes.Lanes`) to a number, or to one of each lane."""

_made: dict[int, tuple[Expr, Evaluator]] = {}
"""By the identity of expressions, which live as long as they stand here."""


def forget() -> None:
    """Before another kernel runs."""
    _made.clear()


def evaluator(e: Expr) -> Evaluator:
    known = _made.get(id(e))
    if known is None:
        known = _made[id(e)] = e, _make(e)
    return known[1]


def _make(e: Expr) -> Evaluator:
    match e:
        case Const(value, _):
            return lambda warp: value
        case Var(name, _):
            return lambda warp: warp.names[name]
        case Binary():
            return _binary(e)
        case _:
            return lambda warp: warp.evaluated(e)


def _binary(e: Binary) -> Evaluator:
    left, right, compute = evaluator(e.left), evaluator(e.right), _operation(e.op, e.dtype)
    kind = numpy_type(e.dtype) if e.dtype.kind == "uint" else None

    def run(warp: Any) -> Any:
        a, b = left(warp), right(warp)
        try:
            out = compute(a, b)
        except ValueError:
            # numbers of lanes, and vectors of lanes
            a, b = (x[:, None] if np.ndim(x) == 1 else x for x in (a, b))
            out = compute(a, b)
        return out if kind is None else np.asarray(out).astype(kind)

    return run


def _quotient(a: Any, b: Any) -> Any:
    """C's division of integers, which rounds toward zero."""
    if _least(a) >= 0 and _least(b) > 0:
        return a // b
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _remainder(a: Any, b: Any) -> Any:
    return a % b if _least(a) >= 0 and _least(b) > 0 else np.sign(a) * (np.abs(a) % np.abs(b))


def _least(x: Any) -> Any:
    return x if isinstance(x, int) else np.min(x)


def _operation(op: str, dtype: DType) -> Callable[[Any, Any], Any]:
    if op == "/":
        return np.true_divide if dtype.is_float else _quotient
    return _OPERATIONS[op]


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": _remainder,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "&&": np.logical_and, "||": np.logical_or, "^": operator.xor, "&": operator.and_, "<<": operator.lshift,
}  # fmt: skip
