"""Integers: Python's, kept in the range of C's types (C11 6.3.1.3, 6.5).

Overflow wraps, as with gcc -fwrapv.
"""

import math
import operator
from collections.abc import Callable

from mdh.diagnostics import fail
from mdh.reference.c.types import Type
from mdh.source import Span

Join = Callable[[int, int], int]

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_PLAIN: dict[str, Join] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_BITS: dict[str, Join] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


class Undecided(Exception):  # noqa: N818 - it is an outcome, not a programming error
    """The result of C for these data is open; other data may decide it. Operands are closer to one another
    than their errors, so the path of the program depends on rounding; or the behaviour is undefined."""

    def __init__(self, what: str, place: Span | None, why: str = "depends on rounding") -> None:
        where = "" if place is None else f" (line {place.line})"
        super().__init__(f"{what} {why}{where}")
        self.place = place


def wrapping(t: Type) -> Callable[[int], int]:
    """The value of type `t` that an integer becomes: modulo 2^bits."""
    low, high = t.low, t.high
    mask, half = (1 << t.bits) - 1, 1 << (t.bits - 1)
    if not t.signed:
        return lambda x: x & mask

    def wrap(x: int) -> int:
        return x if low <= x <= high else ((x + half) & mask) - half

    return wrap


def converting(source: Type, target: Type) -> Callable[[int], int] | None:
    """The conversion between integer types; None if every value is kept."""
    if target.low <= source.low and source.high <= target.high:
        return None
    return wrapping(target)


def integer_operation(op: str, t: Type, place: Span | None) -> Join:
    """`x op y` of two values of the (promoted) type `t`. Raises Failed A131 on division by zero, Undecided
    where C does not define a shift or a quotient."""
    wrap = wrapping(t)
    if op in _BITS:
        return _BITS[op]
    if op in COMPARE:
        compare = COMPARE[op]
        return lambda x, y: 1 if compare(x, y) else 0
    if op in _PLAIN:
        plain = _PLAIN[op]
        return lambda x, y: wrap(plain(x, y))
    if op in ("<<", ">>"):
        return _shift(op, t, place)
    return _division(op, t, place)


def _shift(op: str, t: Type, place: Span | None) -> Join:
    """A shift. A count that is negative, or not less than the width, is undefined (C11 6.5.7)."""
    wrap, width = wrapping(t), t.bits

    def count(y: int) -> int:
        if 0 <= y < width:
            return y
        raise Undecided(f"a shift by {y}", place, "is undefined")

    if op == "<<":
        return lambda x, y: wrap(x << count(y))
    return lambda x, y: x >> count(y)


def _division(op: str, t: Type, place: Span | None) -> Join:
    """A quotient with its fraction discarded, or a remainder with the dividend's sign (C11 6.5.5). If the
    quotient overflows, both are undefined: processors raise an exception."""
    least = t.low if t.signed else None

    def divide(x: int, y: int) -> int:
        if y == 0:
            raise fail(
                "A131",
                "an integer is divided by zero",
                place,
                help="give values that never make it zero",
            )
        if y == -1 and x == least:
            raise Undecided(f"{x} / -1", place, "is undefined")
        q = abs(x) // abs(y)
        return -q if (x < 0) != (y < 0) else q

    def remain(x: int, y: int) -> int:
        return x - divide(x, y) * y

    return divide if op == "/" else remain


def from_float(t: Type) -> Callable[[float], int]:
    """Truncation towards zero. A value that does not fit (undefined in C) is converted as x86-64 does."""
    held = 32 if t.bits < 32 or (t.bits == 32 and t.signed) else 64
    least, wrap = -(1 << (held - 1)), wrapping(t)
    unsigned = t.bits == 64 and not t.signed

    def truncate(x: float) -> int:
        if not math.isfinite(x):
            return wrap(least)
        whole = int(x)
        if unsigned and 0 <= whole < 1 << 64:
            return whole
        return wrap(whole if least <= whole < -least else least)

    return truncate
