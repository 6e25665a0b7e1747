"""The values that a `for` header gives to its variable, by C's rules for the counter's type."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdh.ir.syntax import Assignment, Declaration, Expression, ForStatement, Infix, Name
from mdh.reference.c.integers import COMPARE
from mdh.reference.c.types import Type, common
from mdh.reference.slicing.forms import AffineForm, Meaning, form_of, hull, integer_type

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


@dataclass(frozen=True, slots=True)
class Trips:
    """The values of a loop's variable. exact: it has all of them whenever the loop runs. Otherwise the start
    or the bound depends on outer loops, and `values` holds at least all that it ever has."""

    values: range
    exact: bool = True


def trips(loop: ForStatement, outside: Type | None, meaning: Meaning, loops: Sequence[range]) -> Trips | None:
    """The values; None for an unusual header: start and bound are no sums of outer variables, the step is not
    constant, or the counter's type does not hold the values. outside: the type of a counter that is declared
    before the loop."""
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
    start, step = form_of(start_text, meaning, loops), _step(loop, name, meaning, loops)
    limit = _limit(loop.cond, name, meaning, loops)
    if start is None or limit is None or not step:
        return None
    op, bound = limit
    if start.fixed and bound.fixed:
        if not kind.holds(start.constant, start.constant):
            return None
        found = _counted(op, bound, kind, start.constant, step)
        return None if found is None else Trips(found)
    return _varying(start, op, bound, step, kind, loops)


def _varying(
    start: AffineForm, op: str, bound: AffineForm, step: int, kind: Type, loops: Sequence[range]
) -> Trips | None:
    """All values that the variable has in some turn of the outer loops."""
    if op == "!=" or (op[0] == "<") != (step > 0):
        return None
    compared = common(kind, bound.type)
    first, last = (hull(f.constant, f.coefficients, loops) for f in (start, bound))
    ends = (min(*first, *last) - abs(step), max(*first, *last) + abs(step))
    if not kind.holds(*first) or not kind.holds(*ends) or not compared.holds(*ends):
        return None
    closed = len(op) == 2
    pace = step if start.fixed else 1 if step > 0 else -1
    if step > 0:
        return Trips(range(first[0], last[1] + closed, pace), exact=False)
    return Trips(range(first[1], last[0] - closed, pace), exact=False)


def _constant(expr: Expression, meaning: Meaning, loops: Sequence[range]) -> AffineForm | None:
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


def _limit(
    cond: Expression | None, name: str, meaning: Meaning, loops: Sequence[range]
) -> tuple[str, AffineForm] | None:
    """The comparison of the variable with a bound."""
    match cond:
        case Infix("<" | "<=" | ">" | ">=" | "!=" as written, Name(n), limit) if n == name:
            op: str = written
        case Infix("<" | "<=" | ">" | ">=" as mirrored, limit, Name(n)) if n == name:
            op = _MIRRORED[mirrored]
        case _:
            return None
    bound = form_of(limit, meaning, loops)
    return None if bound is None else (op, bound)


def _counted(op: str, bound: AffineForm, kind: Type, start: int, step: int) -> range | None:
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
