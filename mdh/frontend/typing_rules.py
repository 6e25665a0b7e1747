"""Typed arithmetic as C does it: promotions, conversions, constant folding."""

import math
import operator
from collections.abc import Callable

from mdh.ir.dtype import (
    BF16,
    EIGHTHS,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I32,
    I64,
    NARROW,
    DType,
    common,
    promote_integer,
)
from mdh.ir.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Select, Unary

_ONE = (
    "sqrt exp exp2 log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh fabs floor ceil round"
    " trunc rint erf erfc cbrt asinh acosh atanh"
)
_TWO = "pow fmax fmin fmod atan2 hypot copysign fdim"
FUNCTIONS = {**dict.fromkeys(_ONE.split(), 1), **dict.fromkeys(_TWO.split(), 2), "fma": 3}
"""Functions of math.h that a program may call, by their double names, with the number of arguments."""


def widened(e: Expr) -> Expr:
    """The expression with narrow floats widened to float for arithmetic; C allows the excess precision."""
    return Cast(e, F32) if e.dtype in NARROW else e


def convert(e: Expr, t: DType) -> Expr:
    """`e` as type t; constants are converted here."""
    if e.dtype == t:
        return e
    if isinstance(e, Cast) and e.arg.dtype == t and _keeps(t, e.dtype):
        return e.arg
    if isinstance(e, Const):
        if t.is_float:
            return Const(float(e.value) if t == F64 else _nearest(_sticky(e.value), t), t)
        if not math.isfinite(float(e.value)):
            return Cast(e, t)
        return Const(wrap(int(e.value), t), t)
    return Cast(e, t)


def _keeps(t: DType, other: DType) -> bool:
    """Whether an integer of type t survives a conversion to `other` and back."""
    return not t.is_float and not other.is_float and other.bits >= t.bits


def _sticky(x: int | float) -> float:
    """A double that rounds to a shorter type as x does.

    Its lowest bit stands for all bits that a long integer loses: it is set if any of them was.
    """
    more = abs(x).bit_length() - 40 if isinstance(x, int) else 0
    if more <= 0:
        return float(x)
    short = abs(int(x)) >> more
    return math.copysign(math.ldexp(short | (short << more != abs(x)), more), x)


COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
FORMATS = {
    F32: (24, -125, 2.0**128), F16: (11, -13, 2.0**16), BF16: (8, -125, 2.0**128),
    F8E4M3: (4, -5, 448.0), F8E5M2: (3, -13, 57344.0),
}  # fmt: skip
"""For each type: digits of the significand, frexp's exponent of the least normal number, and the power of two
that a rounded number is less than; of types that saturate, the largest number."""


def _nearest(x: float, t: DType) -> float:
    """x rounded to type t, ties to even (IEEE 754)."""
    digits, least, most = FORMATS[t]
    if t in EIGHTHS:
        x = math.copysign(min(abs(x), most), x) if x == x else x  # noqa: PLR0124 - NaN
    if x == 0 or not math.isfinite(x):
        return x
    m, e = math.frexp(x)
    step = max(e, least) - digits
    rounded = math.ldexp(round(math.ldexp(m, e - step)), step)
    return math.copysign(rounded if abs(rounded) < most or t in EIGHTHS else math.inf, x)


def wrap(n: int, t: DType) -> int:
    n &= (1 << t.bits) - 1
    return n - (1 << t.bits) if t.kind == "int" and n >> (t.bits - 1) else n


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """C's binary operator with its conversions."""
    a, b = widened(a), widened(b)
    if op in ("&&", "||"):
        return _fold(op, Binary(op, a, b, I32))
    if op in ("<<", ">>"):
        a, b = convert(a, promote_integer(a.dtype)), convert(b, promote_integer(b.dtype))
        return _fold(op, Binary(op, a, b, a.dtype))
    t = common(a.dtype, b.dtype)
    return _fold(op, Binary(op, convert(a, t), convert(b, t), I32 if op in COMPARISONS else t))


def _fold(op: str, e: Binary) -> Expr:
    a, b = e.left, e.right
    if not (isinstance(a, Const) and isinstance(b, Const)):
        return e
    x, y = a.value, b.value
    if isinstance(x, int) and isinstance(y, int):
        n = _integer(op, x, y)
        return e if n is None else Const(wrap(n, e.dtype), e.dtype)
    if e.dtype == F64 and op in ("+", "-", "*"):
        return Const({"+": x + y, "-": x - y, "*": x * y}[op], F64)
    return e


def _integer(op: str, x: int, y: int) -> int | None:
    """C's `x op y` before it is wrapped; None if C does not define it."""
    match op:
        case "/" | "%":
            if y == 0:
                return None
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return quotient if op == "/" else x - quotient * y
        case "<<" | ">>" if not 0 <= y < 64:
            return None
        case "&&":
            return int(bool(x) and bool(y))
        case "||":
            return int(bool(x) or bool(y))
        case _:
            return int({**COMPARED, **_COMPUTED}[op](x, y))


def unary(op: str, e: Expr) -> Expr:
    """C's `-`, `+`, `~`, `!`."""
    e = widened(e)
    if op == "!":
        return Const(int(not e.value), I32) if isinstance(e, Const) else Unary("!", e, I32)
    e = convert(e, promote_integer(e.dtype))
    if op == "+":
        return e
    if isinstance(e, Const):
        value = -e.value if op == "-" else ~int(e.value)
        return Const(wrap(value, e.dtype) if isinstance(value, int) else value, e.dtype)
    return Unary(op, e, e.dtype)


def truth(e: Expr) -> Expr:
    """A condition as an integer. C takes numbers of all types, but OpenCL's `?:` takes no floats."""
    return binary("!=", e, Const(0, I32)) if e.dtype.is_float and not isinstance(e, Const) else e


def select(cond: Expr, then: Expr, other: Expr) -> Expr:
    """C's `?:`."""
    cond = truth(cond)
    if then.dtype in EIGHTHS and then.dtype == other.dtype:
        # chosen as it is: converted there and back, an infinity would become a number
        t = then.dtype
    else:
        then, other = widened(then), widened(other)
        t = common(then.dtype, other.dtype)
    if isinstance(cond, Const):
        return convert(then if cond.value else other, t)
    return Select(cond, convert(then, t), convert(other, t), t)


def call(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """A function of math.h, or None where it is not known."""
    if name == "abs" or name in ("labs", "llabs"):
        if len(args) != 1:
            return None
        t = I32 if name == "abs" else I64
        return Call("abs", (convert(args[0], t),), t)
    single = name.endswith("f") and name[:-1] in FUNCTIONS
    base = name[:-1] if single else name
    if base not in FUNCTIONS or FUNCTIONS[base] != len(args):
        return None
    t = F32 if single else F64
    return Call(base, tuple(convert(widened(a), t) for a in args), t)
