"""Rounds a double to a narrower float: to nearest, ties to even (IEEE 754); to 8 bits as mdh.h does."""

import math
from array import array
from collections.abc import Callable

import numpy as np

from mdh.reference.c.types import Type

_CELL = array("f", [0.0])


def to_float(x: float) -> float:
    """The float nearest to a double."""
    _CELL[0] = x
    return _CELL[0]


def to_half(x: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float16(x))


def to_brain(x: float) -> float:
    """The nearest bfloat16: eight significant bits, and the exponents of float."""
    if x == 0 or not math.isfinite(x):
        return x
    exponent = max(math.frexp(x)[1], -125)
    value = math.ldexp(round(math.ldexp(x, 8 - exponent)), exponent - 8)
    return math.copysign(math.inf, x) if abs(value) >= 2.0**128 else math.copysign(value, x)


def to_e4m3(x: float) -> float:
    return _saturated(x, 4, -5, 448.0)


def to_e5m2(x: float) -> float:
    return _saturated(x, 3, -13, 57344.0)


def _saturated(x: float, digits: int, least: int, largest: float) -> float:
    """The nearest number of so many significant bits that is not beyond the largest. least: frexp's exponent
    of the least normal number."""
    if x == 0 or math.isnan(x):
        return x
    if abs(x) >= largest:
        return math.copysign(largest, x)
    step = max(math.frexp(x)[1], least) - digits
    return math.copysign(math.ldexp(round(math.ldexp(x, -step)), step), x)


_SHORT = {"_Float16": to_half, "__bf16": to_brain, "fp8_e4m3": to_e4m3, "fp8_e5m2": to_e5m2}


def rounding(t: Type) -> Callable[[float], float] | None:
    """A function that rounds a double to the float type `t`; None for double."""
    if t.wide or t.bits == 32:
        return to_float
    if t.bits == 64:
        return None
    return _SHORT[t.name]


def rounded(x: float, t: Type) -> float:
    """The value of type `t` nearest to a double."""
    round_ = rounding(t)
    return x if round_ is None else round_(x)
