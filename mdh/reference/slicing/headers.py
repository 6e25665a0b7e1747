"""The values that a `for` header gives to its variable, by C's rules for the counter's type."""

from collections.abc import Sequence

from mdh.ir.syntax import Assignment, Declaration, Expression, ForStatement, Infix, Name
from mdh.reference.c.integers import COMPARE
from mdh.reference.c.types import Type, common
from mdh.reference.slicing.forms import Form, Meaning, form_of, integer_type

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def counter_of(loop: ForStatement) -> str | None:
    """The variable that the header counts with."""
    match loop.first:
        case Declaration(name):
            return name
        case Assignment(Name(name), "="):
            return name
        case _:
            return None


def trips(loop: ForStatement, outside: Type | None, meaning: Meaning, loops: Sequence[range]) -> range | None:
    """The values; None for an unusual header: start, bound or step are not constant, or the counter's type
    does not hold the values. outside: the type of a counter that is declared before the loop."""
    name, first = counter_of(loop), loop.first
    match first:
        case Declaration(_, ctype, _, initial) if initial is not None:
            kind, start_text = integer_type(ctype), initial
        case Assignment():
            kind, start_text = outside, first.value
        case _:
            return None
    if name is None or kind is None or not isinstance(start_text, Expression):
        return None
    start, step = _constant(start_text, meaning, loops), _step(loop, name, meaning, loops)
    if start is None or not step:
        return None
    if not kind.holds(start.constant, start.constant):
        return None
    return _counted(loop.cond, name, kind, start.constant, step, meaning, loops)


def _constant(expr: Expression, meaning: Meaning, loops: Sequence[range]) -> Form | None:
    found = form_of(expr, meaning, loops)
    return found if found is not None and found.fixed else None


def _step(loop: ForStatement, name: str, meaning: Meaning, loops: Sequence[range]) -> int | None:
    match loop.next:
        case Assignment(Name(n), "+=" | "-=" as op, value) if n == name:
            by = _constant(value, meaning, loops)
            return None if by is None else by.constant if op == "+=" else -by.constant
        case Assignment(Name(n), "=", Infix("+" | "-" as op, Name(m), value)) if n == m == name:
            by = _constant(value, meaning, loops)
            return None if by is None else by.constant if op == "+" else -by.constant
        case Assignment(Name(n), "=", Infix("+", value, Name(m))) if n == m == name:
            by = _constant(value, meaning, loops)
            return None if by is None else by.constant
        case _:
            return None


def _counted(
    cond: Expression | None, name: str, kind: Type, start: int, step: int, meaning: Meaning,
    loops: Sequence[range],
) -> range | None:  # fmt: skip
    match cond:
        case Infix("<" | "<=" | ">" | ">=" | "!=" as written, Name(n), limit) if n == name:
            op: str = written
        case Infix("<" | "<=" | ">" | ">=" as mirrored, limit, Name(n)) if n == name:
            op = _MIRRORED[mirrored]
        case _:
            return None
    bound = _constant(limit, meaning, loops)
    if bound is None:
        return None
    compared, last = common(kind, bound.type), bound.constant
    if not compared.holds(last, last) or not compared.holds(start, start):
        return None
    if not COMPARE[op](start, last):
        return range(0)
    match op:
        case "<" | "<=" if step > 0:
            found = range(start, last + (op == "<="), step)
        case ">" | ">=" if step < 0:
            found = range(start, last - (op == ">="), step)
        case "!=" if (last - start) % step == 0 and (last - start) // step > 0:
            found = range(start, last, step)
        case _:
            return None
    # the condition is tested once more after the last iteration
    past = found[-1] + step
    return found if kind.holds(past, past) and compared.holds(past, past) else None
