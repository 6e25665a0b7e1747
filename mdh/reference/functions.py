"""The functions of math.h by their double names, for each judge: in numpy, with the error of devices, and in
doubles, with C's results where Python's module raises (C11 7.12, annex F).

The names with an f have the same meaning and round to float.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdh.reference.numbers import Array

Function = Callable[..., float]


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function. apply: of arrays; scalar: of doubles. ulps: for float, the larger of the errors in OpenCL
    1.2's full profile (section 7.4) and CUDA's (Programming Guide, appendix on mathematical functions); 0 if
    every implementation is exact, because the result needs no rounding."""

    apply: Callable[..., Any]
    ulps: int
    scalar: Function
    arguments: int = 1


def _each(f: Callable[..., float]) -> Callable[..., Array]:
    """An element-wise function that numpy lacks. Domain errors give NaN as in C."""

    def scalar(*args: float) -> float:
        try:
            return f(*args)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    vector = np.frompyfunc(scalar, nin=f.__code__.co_argcount if hasattr(f, "__code__") else 1, nout=1)

    def apply(*args: Array) -> Array:
        out: Array = np.asarray(vector(*args)).astype(np.result_type(*args))
        return out

    return apply


def _round_away(x: Array) -> Array:
    """C's round: halves away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(x), x), whole)


def _multiply_add(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _positive_difference(x: Array, y: Array) -> Array:
    return np.where(x <= y, np.zeros_like(x - y), x - y)


def _guarded(f: Function, otherwise: Function | None = None) -> Function:
    """`f`, and if it raises `otherwise`, else infinity for an overflow and NaN for a domain error."""

    def call(*args: float) -> float:
        try:
            return f(*args)
        except OverflowError:
            return otherwise(*args) if otherwise else math.inf
        except ValueError:
            if any(math.isnan(a) for a in args):
                return math.nan
            return otherwise(*args) if otherwise else math.nan

    return call


def _signed_infinity(x: float) -> float:
    return math.copysign(math.inf, x)


def _pole_at(where: float, value: float) -> Function:
    """Infinity at a pole, NaN elsewhere outside the domain."""
    return lambda x: value if x == where else math.nan


def _gamma_edge(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return math.inf if x > 0 else math.nan


def _power_edge(x: float, y: float) -> float:
    odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
    if x == 0 and y < 0:
        return math.copysign(math.inf, x) if odd else math.inf
    if x < 0 and math.isfinite(x) and math.isfinite(y) and y != math.floor(y):
        return math.nan
    return -math.inf if x < 0 and odd else math.inf


def _whole(f: Callable[[float], int]) -> Function:
    """A rounding to a whole number that keeps the sign of zero."""

    def call(x: float) -> float:
        if not math.isfinite(x) or abs(x) >= 2.0**52:
            return x
        return math.copysign(float(f(x)), x)

    return call


def _away(x: float) -> int:
    """Rounds halves away from zero, unlike Python's `round`."""
    whole = math.trunc(x)
    return whole + (1 if x > 0 else -1) if abs(x - whole) >= 0.5 else whole


def _largest(x: float, y: float) -> float:
    # of two zeros the second one, as in the system's own function
    return x if x > y or math.isnan(y) else y


def _least(x: float, y: float) -> float:
    return x if x < y or math.isnan(y) else y


def _difference(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return x - y if x > y else 0.0


def quotient(x: float, y: float) -> float:
    """IEEE 754's x / y."""
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _atanh_edge(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.nan


def _reciprocal_root(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return 1.0 / math.sqrt(x)


FUNCTIONS: dict[str, MathFunction] = {
    "fabs": MathFunction(np.abs, 0, abs),
    "abs": MathFunction(np.abs, 0, abs),
    "fmax": MathFunction(np.fmax, 0, _largest, 2),
    "fmin": MathFunction(np.fmin, 0, _least, 2),
    "floor": MathFunction(np.floor, 0, _whole(math.floor)),
    "ceil": MathFunction(np.ceil, 0, _whole(math.ceil)),
    "trunc": MathFunction(np.trunc, 0, _whole(math.trunc)),
    "round": MathFunction(_round_away, 0, _whole(_away)),
    "rint": MathFunction(np.rint, 0, _whole(round)),
    "nearbyint": MathFunction(np.rint, 0, _whole(round)),
    "copysign": MathFunction(np.copysign, 0, math.copysign, 2),
    "fdim": MathFunction(_positive_difference, 1, _difference, 2),
    "fma": MathFunction(_multiply_add, 1, _multiply_add, 3),
    "fmod": MathFunction(np.fmod, 0, _guarded(math.fmod), 2),
    "remainder": MathFunction(_each(math.remainder), 0, _guarded(math.remainder), 2),
    "sqrt": MathFunction(np.sqrt, 3, _guarded(math.sqrt)),
    "rsqrt": MathFunction(lambda x: 1 / np.sqrt(x), 2, _guarded(_reciprocal_root)),
    "cbrt": MathFunction(np.cbrt, 2, math.cbrt),
    "hypot": MathFunction(np.hypot, 4, math.hypot, 2),
    "exp": MathFunction(np.exp, 3, _guarded(math.exp)),
    "exp2": MathFunction(np.exp2, 3, _guarded(math.exp2)),
    "exp10": MathFunction(
        lambda x: np.power(np.asarray(10, np.asarray(x).dtype), x), 3, _guarded(lambda x: math.pow(10.0, x))
    ),
    "expm1": MathFunction(np.expm1, 3, _guarded(math.expm1)),
    "log": MathFunction(np.log, 3, _guarded(math.log, _pole_at(0.0, -math.inf))),
    "log2": MathFunction(np.log2, 3, _guarded(math.log2, _pole_at(0.0, -math.inf))),
    "log10": MathFunction(np.log10, 3, _guarded(math.log10, _pole_at(0.0, -math.inf))),
    "log1p": MathFunction(np.log1p, 2, _guarded(math.log1p, _pole_at(-1.0, -math.inf))),
    "pow": MathFunction(np.power, 16, _guarded(math.pow, _power_edge), 2),
    "sin": MathFunction(np.sin, 4, _guarded(math.sin)),
    "cos": MathFunction(np.cos, 4, _guarded(math.cos)),
    "tan": MathFunction(np.tan, 5, _guarded(math.tan)),
    "asin": MathFunction(np.arcsin, 4, _guarded(math.asin)),
    "acos": MathFunction(np.arccos, 4, _guarded(math.acos)),
    "atan": MathFunction(np.arctan, 5, math.atan),
    "atan2": MathFunction(np.arctan2, 6, math.atan2, 2),
    "sinh": MathFunction(np.sinh, 4, _guarded(math.sinh, _signed_infinity)),
    "cosh": MathFunction(np.cosh, 4, _guarded(math.cosh)),
    "tanh": MathFunction(np.tanh, 5, math.tanh),
    "asinh": MathFunction(np.arcsinh, 4, math.asinh),
    "acosh": MathFunction(np.arccosh, 4, _guarded(math.acosh)),
    "atanh": MathFunction(np.arctanh, 5, _guarded(math.atanh, _atanh_edge)),
    "erf": MathFunction(_each(math.erf), 16, math.erf),
    "erfc": MathFunction(_each(math.erfc), 16, math.erfc),
    "tgamma": MathFunction(_each(math.gamma), 16, _guarded(math.gamma, _gamma_edge)),
    "lgamma": MathFunction(_each(math.lgamma), 16, _guarded(math.lgamma, lambda _: math.inf)),
}
"""Every function of math.h that a program may call."""
