"""The functions of math.h with errors, and results that are infinite or NaN."""

import math
from collections.abc import Callable
from itertools import product

from mdh.reference.c.integers import COMPARE, Undecided
from mdh.reference.c.types import Type
from mdh.reference.functions import FUNCTIONS, Function
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.carried import error_of, plain, representable, rounding_of, value_of, whole
from mdh.source import Span

Apply = Callable[..., Value]
_WHOLE = ("floor", "ceil", "trunc", "round", "rint", "nearbyint")


def special(a: Value, b: Value, value: float, apply: Callable[[float, float], float]) -> Value:
    """A result that is not finite: itself if the operands' errors cannot change it, else any value."""
    if not math.isfinite(value) and math.isfinite(error_of(a)) and math.isfinite(error_of(b)):
        ends = [_ends(v) for v in (a, b)]
        results = [apply(x, y) for x, y in product(*ends)]
        if all(math.isnan(r) for r in results) or all(r == value for r in results):
            return value
    return plain(value, math.inf)


def _ends(a: Value) -> tuple[float, ...]:
    value, error = value_of(a), error_of(a)
    return (value - error, value, value + error) if error else (value,)


def greater(op: str, *, least: bool, first: bool) -> Callable[[Value, Value], Value]:
    """`a op b ? a : b` (not `first`: `? b : a`), the greater or the `least` of the two."""
    compare = COMPARE[op]

    def pick(a: Value, b: Value) -> Value:
        x, y = value_of(a), value_of(b)
        ex, ey = error_of(a), error_of(b)
        if not ex and not ey:
            return a if bool(compare(x, y)) == first else b
        if abs(x - y) > ex + ey:
            return a if (x < y) == least else b
        if math.isnan(x - y) and (_no_number(x, ex) or _no_number(y, ey)):
            return a if bool(compare(x, y)) == first else b
        return plain(min(x, y) if least else max(x, y), max(ex, ey))

    return pick


def _no_number(x: float, error: float) -> bool:
    return math.isnan(x) and not error


def function_of(name: str, t: Type, place: Span | None) -> Apply:
    """The function by its double name in type `t`."""
    if name in _WHOLE:
        return _to_whole(name, place)
    match name:
        case "fabs":
            return _absolute
        case "fmax" | "fmin":
            return _extreme(name)
        case "copysign":
            return _with_sign(place)
        case "fmod" | "remainder":
            return _remainder(name, place)
        case "fdim":
            return _difference(t)
        case "fma":
            return _fused(t)
        case _:
            return _smooth(name, t)


def _absolute(a: Value) -> Value:
    return abs(a) if type(a) is float else plain(abs(a[0]), error_of(a))


def _extreme(name: str) -> Apply:
    pick = greater("<" if name == "fmin" else ">", least=name == "fmin", first=True)

    def apply(a: Value, b: Value) -> Value:
        # the number, if the other is a NaN (C11 7.12.12)
        if _no_number(value_of(a), error_of(a)):
            return b
        return a if _no_number(value_of(b), error_of(b)) else pick(a, b)

    return apply


def _to_whole(name: str, place: Span | None) -> Apply:
    f = FUNCTIONS[name].scalar

    def apply(a: Value) -> Value:
        value, error = value_of(a), error_of(a)
        if error and not f(value - error) == f(value + error):
            raise Undecided(f"{name}({value:.9g})", place)
        return f(value)

    return apply


def _with_sign(place: Span | None) -> Apply:
    def apply(a: Value, b: Value) -> Value:
        sign, error = value_of(b), error_of(b)
        if error and not abs(sign) > error:
            raise Undecided(f"the sign of {sign:.9g}", place)
        value = math.copysign(value_of(a), sign)
        return value if type(a) is float else plain(value, error_of(a))

    return apply


def _remainder(name: str, place: Span | None) -> Apply:
    f = FUNCTIONS[name].scalar

    def apply(a: Value, b: Value) -> Value:
        x, y, ex, ey = value_of(a), value_of(b), error_of(a), error_of(b)
        value = f(x, y)
        if not ex and not ey:
            return value
        # the quotient must not change, because the remainder jumps there
        count = (x - value) / y if y else math.nan
        ends = [f(p, q) - (p - count * q) for p, q in product(_ends(a), _ends(b))]
        if not all(abs(off) <= 1e-9 * (abs(x) + abs(y)) for off in ends):
            raise Undecided(f"{name}({x:.9g}, {y:.9g})", place)
        return plain(value, ex + abs(count) * ey)

    return apply


def _difference(t: Type) -> Apply:
    own, f = rounding_of(t), FUNCTIONS["fdim"].scalar

    def apply(a: Value, b: Value) -> Value:
        value = f(value_of(a), value_of(b))
        if math.isnan(value):
            return value if not error_of(a) and not error_of(b) else plain(value, math.inf)
        return plain(value, error_of(a) + error_of(b) + 2 * own.unit * abs(value) + own.tiny)

    return apply


def _fused(t: Type) -> Apply:
    own = rounding_of(t)

    def apply(a: Value, b: Value, c: Value) -> Value:
        x, y, z = value_of(a), value_of(b), value_of(c)
        ex, ey, ez = error_of(a), error_of(b), error_of(c)
        value = x * y + z
        known = not ex and not ey and not ez
        if known and not math.isfinite(value):
            return value
        if not abs(value) <= own.largest:
            return plain(value, math.inf)
        if known and representable(value, t) and whole(x) and whole(y) and representable(x * y, t):
            return value
        moved = abs(x) * ey + abs(y) * ex + ex * ey + ez
        return plain(value, moved + 2 * own.unit * abs(value) + own.tiny)

    return apply


def _smooth(name: str, t: Type) -> Apply:
    """A function that changes little where its arguments do, with the ulps that are stated for it."""
    f, own = FUNCTIONS[name].scalar, rounding_of(t)
    unit = own.unit * max(1, 2 * FUNCTIONS[name].ulps)

    def apply(*args: Value) -> Value:
        values = [value_of(a) for a in args]
        value = f(*values)
        moved = sum(_moved(f, values, k, error_of(a), value) for k, a in enumerate(args))
        if not moved and not math.isfinite(value):
            return value
        if not abs(value) <= own.largest:
            return plain(value, math.inf)
        return plain(value, moved + unit * abs(value) + own.tiny)

    return apply


def _moved(f: Function, values: list[float], k: int, error: float, value: float) -> float:
    """How far the result moves when argument `k` moves by its error."""
    if not error:
        return 0.0
    out = 0.0
    for end in (values[k] - error, values[k] + error):
        off = abs(f(*values[:k], end, *values[k + 1 :]) - value)
        out = max(out, math.inf if math.isnan(off) else off)
    return out
