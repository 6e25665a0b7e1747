"""Derivatives of the functions of math.h by each of their arguments."""

from collections.abc import Callable, Sequence
from math import log, pi, sqrt

from mdh.frontend.typing_rules import binary, select, unary
from mdh.ir.dtype import DType
from mdh.ir.expr import Call, Const, Expr

Args = Sequence[Expr]
Partial = Callable[[Args, Expr, DType], Expr]
"""The derivative by one argument, made of the arguments, the value of the call and its type."""
FLAT = frozenset(("floor", "ceil", "round", "trunc", "rint"))
"""Functions whose derivative is 0 wherever they have one."""


def partials(call: Call) -> tuple[Expr | None, ...] | None:
    """The derivative of a call by each of its arguments. None for an argument that changes nothing; None for
    a function that has no rule."""
    if call.fn in FLAT:
        return (None,)
    rules = _RULES.get(call.fn)
    return None if rules is None else tuple(rule(call.args, call, call.dtype) for rule in rules)


def _num(x: float, t: DType) -> Expr:
    return Const(float(x), t)


def _call(name: str, t: DType, *args: Expr) -> Expr:
    return Call(name, args, t)


def _mul(a: Expr, b: Expr) -> Expr:
    return binary("*", a, b)


def _add(a: Expr, b: Expr) -> Expr:
    return binary("+", a, b)


def _sub(a: Expr, b: Expr) -> Expr:
    return binary("-", a, b)


def _div(a: Expr, b: Expr) -> Expr:
    return binary("/", a, b)


def _one_over(e: Expr, t: DType) -> Expr:
    return _div(_num(1, t), e)


def _sign(e: Expr, t: DType) -> Expr:
    """1, -1, and 0 at 0."""
    below = select(binary("<", e, _num(0, t)), _num(-1, t), _num(0, t))
    return select(binary(">", e, _num(0, t)), _num(1, t), below)


def _root(inside: Expr, t: DType) -> Expr:
    return _call("sqrt", t, inside)


def _larger(a: Expr, b: Expr, t: DType) -> Expr:
    """1 where a is larger, 0 where b is. Equal values share: but beside a constant, as in a ramp `fmax(x,
    0)`, the derivative is 0 there, and the constant has none."""
    tie = _num(0 if isinstance(b, Const) else 0.5, t)
    equal = select(binary("==", a, b), tie, _num(0, t))
    return select(binary(">", a, b), _num(1, t), equal)


def _power(args: Args, value: Expr, t: DType) -> Expr:
    """By the base. Exponents of 1 and 2 need no power."""
    x, y = args
    if isinstance(y, Const) and y.value in (1, 2):
        return _num(1, t) if y.value == 1 else _mul(_num(2, t), x)
    less = Const(float(y.value) - 1, t) if isinstance(y, Const) else _sub(y, _num(1, t))
    return _mul(y, _call("pow", t, x, less))


def _exponent(args: Args, value: Expr, t: DType) -> Expr:
    """By the exponent. It is 0 at the base 0, where the logarithm has no value."""
    x, _ = args
    zero = binary("==", x, _num(0, t))
    return select(zero, _num(0, t), _mul(value, _call("log", t, x)))


def _square(e: Expr) -> Expr:
    return _mul(e, e)


_RULES: dict[str, tuple[Partial, ...]] = {
    "sqrt": (lambda a, v, t: _div(_num(0.5, t), v),),
    "cbrt": (lambda a, v, t: _one_over(_mul(_num(3, t), _square(v)), t),),
    "exp": (lambda a, v, t: v,),
    "exp2": (lambda a, v, t: _mul(v, _num(log(2), t)),),
    "expm1": (lambda a, v, t: _call("exp", t, a[0]),),
    "log": (lambda a, v, t: _one_over(a[0], t),),
    "log2": (lambda a, v, t: _one_over(_mul(a[0], _num(log(2), t)), t),),
    "log10": (lambda a, v, t: _one_over(_mul(a[0], _num(log(10), t)), t),),
    "log1p": (lambda a, v, t: _one_over(_add(_num(1, t), a[0]), t),),
    "sin": (lambda a, v, t: _call("cos", t, a[0]),),
    "cos": (lambda a, v, t: unary("-", _call("sin", t, a[0])),),
    "tan": (lambda a, v, t: _add(_num(1, t), _square(v)),),
    "asin": (lambda a, v, t: _one_over(_root(_sub(_num(1, t), _square(a[0])), t), t),),
    "acos": (lambda a, v, t: unary("-", _one_over(_root(_sub(_num(1, t), _square(a[0])), t), t)),),
    "atan": (lambda a, v, t: _one_over(_add(_num(1, t), _square(a[0])), t),),
    "sinh": (lambda a, v, t: _call("cosh", t, a[0]),),
    "cosh": (lambda a, v, t: _call("sinh", t, a[0]),),
    "tanh": (lambda a, v, t: _sub(_num(1, t), _square(v)),),
    "asinh": (lambda a, v, t: _one_over(_root(_add(_square(a[0]), _num(1, t)), t), t),),
    "acosh": (lambda a, v, t: _one_over(_root(_sub(_square(a[0]), _num(1, t)), t), t),),
    "atanh": (lambda a, v, t: _one_over(_sub(_num(1, t), _square(a[0])), t),),
    "erf": (lambda a, v, t: _mul(_num(2 / sqrt(pi), t), _call("exp", t, unary("-", _square(a[0])))),),
    "erfc": (lambda a, v, t: _mul(_num(-2 / sqrt(pi), t), _call("exp", t, unary("-", _square(a[0])))),),
    "fabs": (lambda a, v, t: _sign(a[0], t),),
    "fmax": (lambda a, v, t: _larger(a[0], a[1], t), lambda a, v, t: _larger(a[1], a[0], t)),
    "fmin": (
        lambda a, v, t: _larger(unary("-", a[0]), unary("-", a[1]), t),
        lambda a, v, t: _larger(unary("-", a[1]), unary("-", a[0]), t),
    ),
    "fdim": (
        lambda a, v, t: select(binary(">", a[0], a[1]), _num(1, t), _num(0, t)),
        lambda a, v, t: select(binary(">", a[0], a[1]), _num(-1, t), _num(0, t)),
    ),
    "fma": (lambda a, v, t: a[1], lambda a, v, t: a[0], lambda a, v, t: _num(1, t)),
    "fmod": (
        lambda a, v, t: _num(1, t),
        lambda a, v, t: unary("-", _call("trunc", t, _div(a[0], a[1]))),
    ),
    "copysign": (
        # 1 where the sign stays, -1 where it changes
        lambda a, v, t: _mul(_sign(a[0], t), _call("copysign", t, _num(1, t), a[1])),
        lambda a, v, t: _num(0, t),
    ),
    "hypot": (
        lambda a, v, t: select(binary("==", v, _num(0, t)), _num(0, t), _div(a[0], v)),
        lambda a, v, t: select(binary("==", v, _num(0, t)), _num(0, t), _div(a[1], v)),
    ),
    "atan2": (
        lambda a, v, t: _div(a[1], _add(_square(a[0]), _square(a[1]))),
        lambda a, v, t: unary("-", _div(a[0], _add(_square(a[0]), _square(a[1])))),
    ),
    "pow": (_power, _exponent),
}  # fmt: skip
