"""math.h by its double names: meaning in numpy, and the error that GPUs and OpenCL allow themselves."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdh.reference.numbers import Array


@dataclass(frozen=True, slots=True)
class Function:
    """ulps: the larger of OpenCL 1.2's full profile (section 7.4) and CUDA's (Programming Guide, appendix on
    mathematical functions) for float; 0 where every implementation is exact."""

    apply: Callable[..., Any]
    ulps: int


def _each(f: Callable[..., float]) -> Callable[..., Array]:
    """An element-wise function for what numpy lacks; domain errors give NaN as in C."""

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


FUNCTIONS: dict[str, Function] = {
    "fabs": Function(np.abs, 0),
    "abs": Function(np.abs, 0),
    "fmax": Function(np.fmax, 0),
    "fmin": Function(np.fmin, 0),
    "floor": Function(np.floor, 0),
    "ceil": Function(np.ceil, 0),
    "trunc": Function(np.trunc, 0),
    "round": Function(_round_away, 0),
    "rint": Function(np.rint, 0),
    "nearbyint": Function(np.rint, 0),
    "copysign": Function(np.copysign, 0),
    "fdim": Function(lambda x, y: np.where(x <= y, np.zeros_like(x - y), x - y), 1),
    "fma": Function(lambda x, y, z: x * y + z, 1),
    "fmod": Function(np.fmod, 0),
    "remainder": Function(_each(math.remainder), 0),
    "sqrt": Function(np.sqrt, 3),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), 2),
    "cbrt": Function(np.cbrt, 2),
    "hypot": Function(np.hypot, 4),
    "exp": Function(np.exp, 3),
    "exp2": Function(np.exp2, 3),
    "exp10": Function(lambda x: np.power(np.asarray(10, np.asarray(x).dtype), x), 3),
    "expm1": Function(np.expm1, 3),
    "log": Function(np.log, 3),
    "log2": Function(np.log2, 3),
    "log10": Function(np.log10, 3),
    "log1p": Function(np.log1p, 2),
    "pow": Function(np.power, 16),
    "sin": Function(np.sin, 4),
    "cos": Function(np.cos, 4),
    "tan": Function(np.tan, 5),
    "asin": Function(np.arcsin, 4),
    "acos": Function(np.arccos, 4),
    "atan": Function(np.arctan, 5),
    "atan2": Function(np.arctan2, 6),
    "sinh": Function(np.sinh, 4),
    "cosh": Function(np.cosh, 4),
    "tanh": Function(np.tanh, 5),
    "asinh": Function(np.arcsinh, 4),
    "acosh": Function(np.arccosh, 4),
    "atanh": Function(np.arctanh, 5),
    "erf": Function(_each(math.erf), 16),
    "erfc": Function(_each(math.erfc), 16),
    "tgamma": Function(_each(math.gamma), 16),
    "lgamma": Function(_each(math.lgamma), 16),
}
"""Every function of math.h that a program may call."""
