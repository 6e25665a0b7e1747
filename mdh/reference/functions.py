"""The functions of math.h by their double names: their meaning in numpy, and the error of devices."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdh.reference.numbers import Array


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function. ulps: for float, the larger of the errors in OpenCL 1.2's full profile (section 7.4) and
    CUDA's (Programming Guide, appendix on mathematical functions); 0 if every implementation is exact."""

    apply: Callable[..., Any]
    ulps: int


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


FUNCTIONS: dict[str, MathFunction] = {
    "fabs": MathFunction(np.abs, 0),
    "abs": MathFunction(np.abs, 0),
    "fmax": MathFunction(np.fmax, 0),
    "fmin": MathFunction(np.fmin, 0),
    "floor": MathFunction(np.floor, 0),
    "ceil": MathFunction(np.ceil, 0),
    "trunc": MathFunction(np.trunc, 0),
    "round": MathFunction(_round_away, 0),
    "rint": MathFunction(np.rint, 0),
    "nearbyint": MathFunction(np.rint, 0),
    "copysign": MathFunction(np.copysign, 0),
    "fdim": MathFunction(lambda x, y: np.where(x <= y, np.zeros_like(x - y), x - y), 1),
    "fma": MathFunction(lambda x, y, z: x * y + z, 1),
    "fmod": MathFunction(np.fmod, 0),
    "remainder": MathFunction(_each(math.remainder), 0),
    "sqrt": MathFunction(np.sqrt, 3),
    "rsqrt": MathFunction(lambda x: 1 / np.sqrt(x), 2),
    "cbrt": MathFunction(np.cbrt, 2),
    "hypot": MathFunction(np.hypot, 4),
    "exp": MathFunction(np.exp, 3),
    "exp2": MathFunction(np.exp2, 3),
    "exp10": MathFunction(lambda x: np.power(np.asarray(10, np.asarray(x).dtype), x), 3),
    "expm1": MathFunction(np.expm1, 3),
    "log": MathFunction(np.log, 3),
    "log2": MathFunction(np.log2, 3),
    "log10": MathFunction(np.log10, 3),
    "log1p": MathFunction(np.log1p, 2),
    "pow": MathFunction(np.power, 16),
    "sin": MathFunction(np.sin, 4),
    "cos": MathFunction(np.cos, 4),
    "tan": MathFunction(np.tan, 5),
    "asin": MathFunction(np.arcsin, 4),
    "acos": MathFunction(np.arccos, 4),
    "atan": MathFunction(np.arctan, 5),
    "atan2": MathFunction(np.arctan2, 6),
    "sinh": MathFunction(np.sinh, 4),
    "cosh": MathFunction(np.cosh, 4),
    "tanh": MathFunction(np.tanh, 5),
    "asinh": MathFunction(np.arcsinh, 4),
    "acosh": MathFunction(np.arccosh, 4),
    "atanh": MathFunction(np.arctanh, 5),
    "erf": MathFunction(_each(math.erf), 16),
    "erfc": MathFunction(_each(math.erfc), 16),
    "tgamma": MathFunction(_each(math.gamma), 16),
    "lgamma": MathFunction(_each(math.lgamma), 16),
}
"""Every function of math.h that a program may call."""
