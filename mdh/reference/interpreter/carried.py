"""A float with what is known of its error, and the roundings of each type.

An element that is read, a literal and what is converted from an integer is a Python float, which every
implementation has exactly. What is computed is a tuple

    (value, error, size, terms, unit, alike, pending, statement)

value: in double, as if nothing had been rounded since. error: a bound on the errors made so far. The rest is
about a running sum, whose roundings are counted when it is used and not with each addition: size is the sum
of the absolute values of its terms, unit the unit roundoff they are added in (0: none was rounded), alike
how often a term came again. pending: the rounding to the type of the object that the sum lies in, which an
implementation that holds the sum wider makes only once; statement: which statement stored it.
"""

import math
import sys
from dataclasses import dataclass

from mdh.reference.c.types import BRAIN, DOUBLE, E4M3, E5M2, FLOAT, HALF, Type
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.rounding import rounding

NONE = -1
"""The number of no statement."""
Carried = tuple[float, float, float, int, float, int, float, int]


@dataclass(frozen=True, slots=True)
class Rounding:
    """unit: the largest relative error of one rounding; tiny: the absolute error near zero; largest: finite
    value. sum_unit: of the type that sums are held in; whole: sums of integers up to here are exact.
    saturates: a larger value becomes the largest one."""

    unit: float
    tiny: float
    largest: float
    sum_unit: float
    whole: float
    saturates: bool = False


_FLOAT_UNIT = 2.0**-24
_ROUNDINGS = {
    "_Float16": Rounding(2.0**-11, 2.0**-24, 65504.0, _FLOAT_UNIT, 2.0**18),
    "__bf16": Rounding(2.0**-8, 2.0**-133, 2.0**128 - 2.0**120, _FLOAT_UNIT, 2.0**18),
    "float": Rounding(_FLOAT_UNIT, 2.0**-149, 2.0**128 - 2.0**104, _FLOAT_UNIT, 2.0**18),
    "fp8_e4m3": Rounding(2.0**-4, 2.0**-10, 448.0, _FLOAT_UNIT, 2.0**18, saturates=True),
    "fp8_e5m2": Rounding(2.0**-3, 2.0**-17, 57344.0, _FLOAT_UNIT, 2.0**18, saturates=True),
    # the values that doubles are compared with are computed in doubles too, and round as often
    "double": Rounding(2.0**-52, 2.0**-1074, sys.float_info.max, 2.0**-52, 2.0**46),
}

_NARROWED = {t.name: rounding(t) for t in (E4M3, E5M2, HALF, BRAIN, FLOAT, DOUBLE)}

_SECOND_ORDER = 1.0 + 2.0**-14
"""For roundings of errors, which the bounds leave out."""


def rounding_of(t: Type) -> Rounding:
    """Operations on 16-bit floats are computed in float; objects and casts round to 16 bits."""
    return _ROUNDINGS["float" if t.wide else t.name]


def plain(value: float, error: float) -> Carried:
    """A value that is not a running sum."""
    if math.isnan(error):
        error = math.inf
    return value, error, abs(value), 1, 0.0, 1, 0.0, NONE


def error_of(a: Value) -> float:
    """How far an implementation's value may be from this one.

    A sum of n terms in any order: n u S, which is certain, and for many terms (4 sqrt(n) + 16) u S, and m u S
    more where m terms are equal, since equal terms are rounded alike.
    """
    if type(a) is float:
        return 0.0
    value, error, size, terms, unit, alike, pending, _ = a
    if unit:
        count = 4.0 * math.sqrt(terms) + 16.0 + (alike if alike > 1 else 0)
        # there is one way to add two terms
        error += unit * abs(value) if terms == 2 else min(count, terms) * unit * size
    error = (error + pending) * _SECOND_ORDER
    return error if error == error else math.inf  # noqa: PLR0124 - NaN


def value_of(a: Value) -> float:
    return a if type(a) is float else a[0]


def whole(x: float) -> bool:
    """Whether x is a multiple of 1/64; such values add exactly in double."""
    return (x * 64.0) % 1.0 == 0.0


def representable(x: float, t: Type) -> bool:
    """Whether x is a multiple of 1/64 that an object of type `t` holds."""
    if not whole(x):
        return False
    round_ = _NARROWED["float" if t.wide else t.name]
    return round_ is None or round_(x) == x


def settled(a: Value) -> Value:
    """The value after its pending rounding, as another statement reads it."""
    if type(a) is float or not a[6]:
        return a
    value, error, size, terms, unit, alike, pending, _ = a
    return value, error + pending, size, terms, unit, alike, 0.0, NONE
