"""Floats in double with a bound on the error that any legal implementation keeps (carried.py).

Sums may be re-associated, multiply-adds contracted, and 16-bit types summed in float. Functions of math.h
have the ulps of their standards. If a comparison of floats, a rounding to an integer or a conversion to an
integer depends on such errors, Undecided is raised.
"""

import math
from collections.abc import Callable

from mdh.reference.c.integers import COMPARE, Undecided, from_float
from mdh.reference.c.types import Type
from mdh.reference.functions import quotient
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.bounded_functions import function_of, greater, special
from mdh.reference.interpreter.carried import (
    NONE,
    Carried,
    error_of,
    plain,
    representable,
    rounding_of,
    settled,
    value_of,
    whole,
)
from mdh.reference.interpreter.rounding import rounding
from mdh.source import Span

Join = Callable[[Value, Value], Value]
_DIVISION_ULPS = 3
"""OpenCL's full profile allows an error of 2.5 ulp in a float division."""


class BoundedScalarArithmetic:
    """strict: sums stay in C's order, and an object of a 16-bit type is rounded at each assignment."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict

    def operation(self, op: str, t: Type, statement: int) -> Join:
        match op:
            case "+":
                return self._sum(t, statement, 1.0)
            case "-":
                return self._sum(t, statement, -1.0)
            case "*":
                return self._product(t)
            case _:
                return self._quotient(t)

    def _sum(self, t: Type, statement: int, sign: float) -> Join:
        """a + sign * b."""
        own = rounding_of(t)
        unit_of_sum, largest, tiny, most = own.sum_unit, own.largest, own.tiny, own.whole
        seen: dict[float, int] = {}

        def add(a: Value, b: Value) -> Value:
            if type(a) is float:
                x, error, size, terms, unit, alike = a, 0.0, abs(a), 1, 0.0, 1
            else:
                x, error, size, terms, unit, alike, pending, where = a
                if pending and where != statement:
                    error += pending
            if type(b) is float:
                y = b * sign
                size += abs(b)
                term, more = b, 1
            else:
                y, slack, part, more, coarse, again, pending, where = b
                term = y
                y *= sign
                error += slack
                size += part
                if pending and where != statement:
                    error += pending
                unit = max(unit, coarse)
                alike = max(alike, again)
            value = x + y
            if more > 1:
                term = x
            if not -largest <= value <= largest:
                return special(a, b, value, lambda p, q: p + sign * q)
            if not unit and not error and size <= most and whole(x) and whole(y):
                return value, 0.0, size, terms + more, 0.0, 1, 0.0, NONE
            unit = max(unit, unit_of_sum)
            if (terms == 1 or more == 1) and term:
                count = seen.get(term, 0) + 1
                seen[term] = count
                alike = max(alike, count)
            return value, error + tiny, size, terms + more, unit, alike, 0.0, NONE

        return add

    def _product(self, t: Type) -> Join:
        own = rounding_of(t)
        unit, tiny, largest = own.unit, own.tiny, own.largest

        def multiply(a: Value, b: Value) -> Value:
            if type(a) is float and type(b) is float:
                value = a * b
                if not -largest <= value <= largest:
                    return special(a, b, value, lambda p, q: p * q)
                size = abs(value)
                known = not (a and b) or (representable(value, t) and whole(a) and whole(b))
                return value, 0.0 if known else unit * size + tiny, size, 1, 0.0, 1, 0.0, NONE
            x, y, ex, ey = value_of(a), value_of(b), error_of(a), error_of(b)
            value = x * y
            if not -largest <= value <= largest:
                return special(a, b, value, lambda p, q: p * q)
            if not ex and not ey and representable(value, t) and whole(x) and whole(y):
                return plain(value, 0.0)
            if (x == 0 and not ex and ey < math.inf) or (y == 0 and not ey and ex < math.inf):
                return plain(value, 0.0)
            size = abs(value)
            error = abs(x) * ey + abs(y) * ex + ex * ey + unit * size + tiny
            return plain(value, error)

        return multiply

    def _quotient(self, t: Type) -> Join:
        own = rounding_of(t)
        unit = own.unit * (2 * _DIVISION_ULPS if t.bits <= 32 else 1)
        tiny, largest = own.tiny, own.largest

        def divide(a: Value, b: Value) -> Value:
            x, y, ex, ey = value_of(a), value_of(b), error_of(a), error_of(b)
            value = quotient(x, y)
            if not ex and not ey and value == 0:
                return value
            if not -largest <= value <= largest:
                return special(a, b, value, quotient)
            room = abs(y) - ey
            if room <= 0:
                return plain(value, math.inf)
            return plain(value, (ex + abs(value) * ey) / room + unit * abs(value) + tiny)

        return divide

    def comparison(self, op: str, place: Span | None) -> Callable[[Value, Value], int]:
        compare = COMPARE[op]

        def decide(a: Value, b: Value) -> int:
            if type(a) is float and type(b) is float:
                return compare(a, b)
            x, y = value_of(a), value_of(b)
            slack = error_of(a) + error_of(b)
            if slack and not abs(x - y) > slack and not _unordered(a, b):
                raise Undecided(f"a comparison of {x:.9g} and {y:.9g}", place)
            return compare(x, y)

        return decide

    def negation(self) -> Callable[[Value], Value]:
        def negate(a: Value) -> Value:
            return -a if type(a) is float else (-a[0], *a[1:])

        return negate

    def truth(self, place: Span | None) -> Callable[[Value], bool]:
        unequal = self.comparison("!=", place)
        return lambda a: bool(unequal(a, 0.0))

    def from_integer(self, t: Type) -> Callable[[int], Value]:
        own, round_ = rounding_of(t), rounding(t)

        def convert(x: int) -> Value:
            value = float(x)
            if value == x and (round_ is None or round_(value) == value):
                return value
            return plain(value, own.unit * abs(value) if abs(value) <= own.largest else math.inf)

        return convert

    def to_integer(self, t: Type, place: Span | None) -> Callable[[Value], int]:
        truncate = from_float(t)

        def convert(a: Value) -> int:
            value, error = value_of(a), error_of(a)
            if not math.isfinite(value) or not math.isfinite(error):
                raise Undecided(f"the conversion of {value:.9g} to an integer", place)
            low, high = math.trunc(value - error), math.trunc(value + error)
            if low != high or not t.low <= low <= t.high:
                raise Undecided(f"the conversion of {value:.9g} to an integer", place)
            return truncate(value)

        return convert

    def conversion(self, source: Type, target: Type) -> Callable[[Value], Value] | None:
        if source.name == target.name:
            return self._rounded(target) if source.wide and not target.wide else None
        return None if target.rank > source.rank else self._rounded(target)

    def _rounded(self, t: Type) -> Callable[[Value], Value]:
        round_, own = rounding(t), rounding_of(t)

        def convert(a: Value) -> Value:
            value, error = value_of(a), error_of(a)
            if not error:
                return value if round_ is None else round_(value)
            if own.saturates:
                value = max(-own.largest, min(own.largest, value))
            elif abs(value) > own.largest:
                return plain(value, math.inf)
            return plain(value, error + own.unit * abs(value) + own.tiny)

        return convert

    def storing(self, source: Type, target: Type, statement: int) -> Callable[[Value], Value] | None:
        if source == target or (target.rank > source.rank and source.name != target.name):
            return settled
        round_, own = rounding(target), rounding_of(target)
        strict = self.strict

        def store(a: Value) -> Value:
            if type(a) is float:
                return a if round_ is None else round_(a)
            if strict:
                return _rounded_in_place(a, target)
            value, error, size, terms, unit, alike, pending, where = a
            if abs(value) > own.largest:
                return plain(value, math.inf)
            if pending and where != statement:
                error += pending
            if not error and not unit and representable(value, target):
                return value, error, size, terms, unit, alike, 0.0, statement
            if terms > 1 and unit < own.sum_unit:
                # a sum that is held in the target's type takes terms of that type
                error += own.sum_unit * size
                unit = own.sum_unit
            return value, error, size, terms, unit, alike, own.unit * abs(value) + own.tiny, statement

        return store

    def function(self, name: str, t: Type, place: Span | None) -> Callable[..., Value]:
        return function_of(name, t, place)

    def choice(self, op: str, *, first: bool) -> Join | None:
        return greater(op, least=(op in ("<", "<=")) == first, first=first)


def _unordered(a: Value, b: Value) -> bool:
    """Whether one of the two is a NaN in every implementation."""
    return any(math.isnan(value_of(v)) and not error_of(v) for v in (a, b))


def _rounded_in_place(a: Carried, t: Type) -> Value:
    """A value that is rounded in place, as C says; a small earlier error may move it by one rounding."""
    round_, own = rounding(t), rounding_of(t)
    value, error = a[0], error_of(a)
    held = value if round_ is None else round_(value)
    if not error:
        return held
    return plain(held, error + 2 * own.unit * abs(value) + own.tiny)
