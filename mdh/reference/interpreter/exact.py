"""C's floats: each operation is rounded to its type (16-bit types: to float), and nothing is contracted."""

import math
import operator
from collections.abc import Callable

from mdh.reference.c.integers import COMPARE, from_float
from mdh.reference.c.types import Type, computed
from mdh.reference.functions import FUNCTIONS, fused_odd
from mdh.reference.interpreter.rounding import rounding
from mdh.source import Span

Join = Callable[[float, float], float]
_PLAIN: dict[str, Join] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def quotient(x: float, y: float) -> float:
    """IEEE 754's x / y."""
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


class ExactArithmetic:
    """Bit for bit the results of gcc -O0 -fwrapv -ffp-contract=off. Functions of math.h are the system's in
    double; those of float are rounded from them."""

    def operation(self, op: str, t: Type, statement: int) -> Join:
        plain = quotient if op == "/" else _PLAIN[op]
        round_ = rounding(computed(t))
        if round_ is None:
            return plain
        return lambda x, y: round_(plain(x, y))

    def comparison(self, op: str, place: Span | None) -> Callable[[float, float], int]:
        return COMPARE[op]

    def negation(self) -> Callable[[float], float]:
        return operator.neg

    def truth(self, place: Span | None) -> None:
        return None

    def from_integer(self, t: Type) -> Callable[[int], float]:
        round_ = rounding(t)
        if round_ is None:
            return float
        return lambda x: round_(_odd(x))

    def to_integer(self, t: Type, place: Span | None) -> Callable[[float], int]:
        return from_float(t)

    def conversion(self, source: Type, target: Type) -> Callable[[float], float] | None:
        if source.name == target.name and not (source.wide and not target.wide):
            return None
        # the value of an operation on 16-bit floats is a float already
        return None if target.rank > source.rank else rounding(target)

    def storing(self, source: Type, target: Type, statement: int) -> Callable[[float], float] | None:
        return self.conversion(source, target)

    def function(self, name: str, t: Type, place: Span | None) -> Callable[..., float]:
        round_, function = rounding(t), FUNCTIONS[name]
        if round_ is None or not function.ulps:
            return function.scalar
        apply = fused_odd if name == "fma" else function.scalar
        return lambda *args: round_(apply(*args))

    def choice(self, op: str, *, first: bool) -> None:
        return None


def _odd(x: int) -> float:
    """An integer as a double, rounded to odd, so that only the next rounding counts."""
    size = x.bit_length() - 53
    if size <= 0:
        return float(x)
    kept = abs(x) >> size
    if abs(x) & ((1 << size) - 1):
        kept |= 1
    return math.copysign(math.ldexp(kept, size), x)
