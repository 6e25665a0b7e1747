"""Evaluates `where` conditions on integers. Comparisons and logic yield 0 or 1; `/` and `%` round down."""

import operator
from collections.abc import Callable, Mapping
from typing import assert_never

from mdh.diagnostics import fail
from mdh.schedule.model import NameRef, Operation, WhereExpr

_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(expression: WhereExpr, values: Mapping[str, int]) -> int:
    """The value with `values` for every name. Raises KeyError for a missing name, S123 for `x / 0`."""
    match expression:
        case int(number):
            return number
        case NameRef(text, _):
            return values[text]
        case Operation("and", (left, right)):
            return int(bool(evaluate(left, values)) and bool(evaluate(right, values)))
        case Operation("or", (left, right)):
            return int(bool(evaluate(left, values)) or bool(evaluate(right, values)))
        case Operation("not", (operand,)):
            return int(not evaluate(operand, values))
        case Operation("-", (operand,)):
            return -evaluate(operand, values)
        case Operation(op, (left, right), span):
            a, b = evaluate(left, values), evaluate(right, values)
            if b == 0 and op in {"/", "%"}:
                raise fail(
                    "S123",
                    f"`{op}` by zero in a `where` condition",
                    span,
                    help="let the divisor be other than 0",
                )
            return int(_BINARY[op](a, b))
        case Operation(op, operands):
            raise ValueError(f"{op} has {len(operands)} operands")
        case _:
            assert_never(expression)


def names_of(expression: WhereExpr) -> tuple[NameRef, ...]:
    """Every name of a condition, from left to right, with repetitions."""
    match expression:
        case int():
            return ()
        case NameRef():
            return (expression,)
        case Operation(_, operands):
            return tuple(name for operand in operands for name in names_of(operand))
        case _:
            assert_never(expression)


def replace_names(expression: WhereExpr, values: Mapping[str, int]) -> WhereExpr:
    """The condition with the names in `values` replaced by numbers."""
    match expression:
        case int():
            return expression
        case NameRef(text, hole):
            return values[text] if hole and text in values else expression
        case Operation(op, operands, span):
            return Operation(op, tuple(replace_names(o, values) for o in operands), span)
        case _:
            assert_never(expression)
