"""Scalar expressions as text, in C's notation with all mixed precedences in parentheses."""

from typing import assert_never

from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var


def expression_text(e: Expr) -> str:
    match e:
        case Const(value, _):
            return repr(value)
        case Var(name, _):
            return name
        case Load(buffer, index, _, lanes):
            wide = f":{lanes}" if lanes > 1 else ""
            return buffer + "".join(f"[{expression_text(i)}]" for i in index) + wide
        case Unary(op, arg, _):
            return f"{op}{_tight(arg)}"
        case Binary(op, left, right, _):
            return f"{_operand(op, left, first=True)} {op} {_operand(op, right, first=False)}"
        case Select(cond, then, other, _):
            return f"{_tight(cond)} ? {_tight(then)} : {_tight(other)}"
        case Cast(arg, dtype):
            return f"{dtype.name}({expression_text(arg)})"
        case Call(fn, args, _):
            return f"{fn}({', '.join(expression_text(a) for a in args)})"
        case _:
            assert_never(e)


def _tight(e: Expr) -> str:
    text = expression_text(e)
    return f"({text})" if isinstance(e, Binary | Select) else text


def _operand(op: str, e: Expr, *, first: bool) -> str:
    """An operand. It has no parentheses where they cannot matter: for products in sums, and on the left side
    of an equal operator."""
    text = expression_text(e)
    if isinstance(e, Binary) and ((op in "+-" and e.op == "*") or (first and e.op == op)):
        return text
    return f"({text})" if isinstance(e, Binary | Select) else text
