"""math.h in doubles, with C's results where Python's module raises (C11 7.12, annex F)."""

import math
from collections.abc import Callable
from fractions import Fraction

Function = Callable[..., float]


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


def _reciprocal_root(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return 1.0 / math.sqrt(x)


FUNCTIONS: dict[str, Function] = {
    "fabs": abs,
    "fmax": _largest,
    "fmin": _least,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(_away),
    "rint": _whole(round),
    "nearbyint": _whole(round),
    "copysign": math.copysign,
    "fdim": _difference,
    "fma": fused,
    "fmod": _guarded(math.fmod),
    "remainder": _guarded(math.remainder),
    "sqrt": _guarded(math.sqrt),
    "rsqrt": _guarded(_reciprocal_root),
    "cbrt": math.cbrt,
    "hypot": math.hypot,
    "exp": _guarded(math.exp),
    "exp2": _guarded(math.exp2),
    "exp10": _guarded(lambda x: math.pow(10.0, x)),
    "expm1": _guarded(math.expm1),
    "log": _guarded(math.log, _pole_at(0.0, -math.inf)),
    "log2": _guarded(math.log2, _pole_at(0.0, -math.inf)),
    "log10": _guarded(math.log10, _pole_at(0.0, -math.inf)),
    "log1p": _guarded(math.log1p, _pole_at(-1.0, -math.inf)),
    "pow": _guarded(math.pow, _power_edge),
    "sin": _guarded(math.sin),
    "cos": _guarded(math.cos),
    "tan": _guarded(math.tan),
    "asin": _guarded(math.asin),
    "acos": _guarded(math.acos),
    "atan": math.atan,
    "atan2": math.atan2,
    "sinh": _guarded(math.sinh, _signed_infinity),
    "cosh": _guarded(math.cosh),
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": _guarded(math.acosh),
    "atanh": _guarded(math.atanh, lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.nan),
    "erf": math.erf,
    "erfc": math.erfc,
    "tgamma": _guarded(math.gamma, _gamma_edge),
    "lgamma": _guarded(math.lgamma, lambda _: math.inf),
}
"""By their double names. The names with an f have the same meaning and round to float."""

EXACT = frozenset(
    ("fabs", "fmax", "fmin", "floor", "ceil", "trunc", "round", "rint", "nearbyint", "copysign", "fmod",
     "remainder")
)  # fmt: skip
"""Functions whose result needs no rounding."""
ARGUMENTS = {
    "fmax": 2, "fmin": 2, "copysign": 2, "fdim": 2, "fma": 3, "fmod": 2, "remainder": 2, "hypot": 2,
    "pow": 2, "atan2": 2,
}  # fmt: skip
"""The number of arguments, if it is not one."""
