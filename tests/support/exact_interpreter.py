"""C's floats in the interpreter, bit for bit: each operation is rounded to its type (16-bit types: to float),
and nothing is contracted. mdh itself judges with bounds; tests compare these results with compilers."""

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mdh.ir.syntax import Function
from mdh.reference.c.integers import COMPARE, from_float
from mdh.reference.c.types import Type, computed
from mdh.reference.functions import FUNCTIONS, quotient
from mdh.reference.interpreter.memory import Overlay
from mdh.reference.interpreter.rounding import rounding
from mdh.reference.interpreter.run import LIMIT, Array, execute
from mdh.source import Span

Join = Callable[[float, float], float]
_PLAIN: dict[str, Join] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def interpret(
    function: Function, arrays: Mapping[str, Array], scalars: Mapping[str, Any], *, limit: int = LIMIT
) -> dict[str, Array]:
    """Every array parameter as the C function leaves it, bit for bit; the given arrays stay as they are.

    arrays: by parameter name, as many elements as the C says, of the C type's numpy type. scalars: every
    scalar parameter. Raises Failed A130 (a subscript outside its array), A131 (an integer divided by zero),
    EndlessLoop (more than `limit` iterations).
    """
    ran = execute(function, arrays, scalars, ExactArithmetic(), None, limit)
    out = {}
    for name, memory in ran.parameters.items():
        assert memory.given is not None
        left = memory.given.copy()
        if isinstance(memory.data, Overlay):
            for k, value in memory.data.written.items():
                left.reshape(-1)[k] = value
        elif name in ran.written:
            held = np.array(memory.data, np.float64 if memory.type.real else left.dtype)
            left = held.astype(left.dtype).reshape(left.shape)
        out[name] = left
    return out


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
            return fused if name == "fma" else function.scalar
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


def fused(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fused_odd(x: float, y: float, z: float) -> float:
    """x * y + z of floats, rounded to odd, so that only the next rounding to float counts."""
    product = x * y
    total = product + z
    if not math.isfinite(total):
        return total
    part = total - product
    rest = (product - (total - part)) + (z - part)
    if rest == 0 or int(math.ldexp(math.frexp(total)[0], 53)) % 2:
        return total
    return math.nextafter(total, math.inf if rest > 0 else -math.inf)
