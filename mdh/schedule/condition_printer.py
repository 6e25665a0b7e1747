"""`where` conditions as text, with the fewest parentheses that read back to the same value."""

from typing import assert_never

from mdh.schedule.condition_reader import COMPARISONS, LEVELS
from mdh.schedule.model import NameRef, Operation, WhereExpr

_FACTOR = len(LEVELS)
_LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}


def print_condition(condition: WhereExpr) -> str:
    return _print(condition, 0)


def _print(expression: WhereExpr, least: int) -> str:
    """The text, in parentheses if its operator binds weaker than `least`."""
    match expression:
        case int(number):
            return str(number)
        case NameRef(text, hole):
            return f"?{text}" if hole else text
        case Operation(op, (operand,)):
            level = _LEVEL["not"] if op == "not" else _FACTOR
            text = f"not {_print(operand, level)}" if op == "not" else f"-{_print(operand, level)}"
        case Operation(op, (left, right)):
            level = _LEVEL[op]
            # Comparisons do not chain; the other operators associate to the left.
            text = f"{_print(left, level + (op in COMPARISONS))} {op} {_print(right, level + 1)}"
        case Operation(op, operands):
            raise ValueError(f"{op} has {len(operands)} operands")
        case _:
            assert_never(expression)
    return text if level >= least else f"({text})"
