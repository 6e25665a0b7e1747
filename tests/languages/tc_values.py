"""The values of expressions at all points of a definition, as C computes them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import erf, erfc
from typing import Any

import numpy as np

from tests.languages.kinds import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    NAMES,
    Array,
    DoubtfulError,
    RefusedError,
    common,
    computed,
    converted,
    is_float,
    rounding,
    shared,
)
from tests.languages.tc_kinds import BASES, CHOICES, Kinds
from tests.languages.tc_syntax import (
    COMPARISONS,
    Apply,
    At,
    Binary,
    Choose,
    Expr,
    Extent,
    Name,
    Num,
    Unary,
    every,
    names,
)

_INTEGER = frozenset(("%", "&", "|", "^", "<<", ">>"))
"""Operators that integers alone have."""


@dataclass
class Tensor:
    """error: the most that its elements may differ from the right ones."""

    array: Array
    error: float = 0.0


@dataclass(frozen=True)
class Value:
    """Numbers in the type in which they are computed."""

    array: Array
    error: float = 0.0

    @property
    def most(self) -> float:
        return float(np.abs(self.array.astype(F64)).max(initial=0.0))

    def to(self, t: np.dtype[Any]) -> "Value":
        out = converted(self.array, t, self.error)
        rounded = is_float(t) and (out.astype(F64) != self.array.astype(F64)).any() and self.error > 0
        return Value(out, self.error + (rounding(t) * self.most if rounded else 0.0))


@dataclass
class Point:
    """What names mean in a definition. env: indices, sizes and scalars."""

    kinds: Kinds
    env: Mapping[str, Value]
    tensors: Mapping[str, Tensor]
    shapes: Mapping[str, tuple[int, ...]]
    mask: Array = field(default_factory=lambda: np.ones((), bool))

    def value(self, e: Expr, wanted: np.dtype[Any] | None) -> Value:
        """wanted: the type of literals that nothing else gives one."""
        match e:
            case Num():
                as_float = e.is_float or (wanted is not None and is_float(wanted))
                t = (wanted if wanted is not None and is_float(wanted) else F32) if as_float else I32
                return Value(np.asarray(e.value).astype(t))
            case Name():
                found = self.env[e.name]
                return Value(found.array.astype(computed(found.array.dtype)))
            case Extent():
                return Value(np.asarray(self.shapes[e.tensor][e.position], I32))
            case At():
                return self._element(e)
            case Apply():
                return self._apply(e, wanted)
            case Unary():
                return self._unary(e, wanted)
            case Binary():
                return self._binary(e, wanted)
            case Choose():
                return self._choose(e, wanted)

    def _element(self, e: At) -> Value:
        t = self.tensors[e.tensor]
        index = []
        for x, extent in zip(e.subscripts, t.array.shape, strict=True):
            at = self.value(x, I32).array.astype(np.int64)
            if (((at < 0) | (at >= extent)) & self.mask).any():
                raise RefusedError("C140")
            index.append(np.clip(at, 0, extent - 1))
        found = t.array[tuple(np.broadcast_arrays(*index))]
        return Value(found.astype(computed(found.dtype)), t.error)

    def _type(self, wanted: np.dtype[Any] | None, *sides: Expr) -> np.dtype[Any] | None:
        """The type that literals take beside these values."""
        kind = self.kinds.of(sides[0])
        for x in sides[1:]:
            kind = common(kind, self.kinds.of(x))
        return wanted if isinstance(kind, str) else computed(kind)

    def _under(self, cond: Expr, holds: Array, e: Expr, wanted: np.dtype[Any] | None) -> Value:
        """The value where a condition holds; elsewhere nothing is read. That is only known before the program
        runs if the condition compares indices with numbers."""
        simple = all(
            isinstance(x, Name | Binary) or (isinstance(x, Num) and not x.is_float) for x in every(cond)
        )
        known = simple and names(cond) and not self.kinds.scalars.keys() & set(names(cond))
        mask = self.mask & holds if known else self.mask
        return Point(self.kinds, self.env, self.tensors, self.shapes, mask).value(e, wanted)

    def _truth(self, e: Expr) -> Array:
        found = self.value(e, self._type(None, e))
        if found.error:
            raise DoubtfulError
        out: Array = found.array != 0
        return out

    def _unary(self, e: Unary, wanted: np.dtype[Any] | None) -> Value:
        if e.op == "!":
            return Value((~self._truth(e.operand)).astype(I32))
        x = self.value(e.operand, self._type(None if e.op == "~" else wanted, e.operand))
        if e.op == "~" and is_float(x.array.dtype):
            raise RefusedError("T112")
        x = x.to(shared(x.array.dtype, x.array.dtype))
        with np.errstate(over="ignore"):
            return Value(-x.array if e.op == "-" else ~x.array if e.op == "~" else x.array, x.error)

    def _binary(self, e: Binary, wanted: np.dtype[Any] | None) -> Value:
        if e.op in ("&&", "||"):
            left = self._truth(e.left)
            right = self._under(e.left, left if e.op == "&&" else ~left, e.right, self._type(None, e.right))
            if right.error:
                raise DoubtfulError
            truth = right.array != 0
            return Value(((left & truth) if e.op == "&&" else (left | truth)).astype(I32))
        t = self._type(None if e.op in _INTEGER else wanted, e.left, e.right)
        a, b = self.value(e.left, t), self.value(e.right, t)
        if e.op in _INTEGER and (is_float(a.array.dtype) or is_float(b.array.dtype)):
            raise RefusedError("T112")
        if e.op in ("<<", ">>"):
            a = a.to(shared(a.array.dtype, a.array.dtype))
            moved = np.left_shift if e.op == "<<" else np.right_shift
            return Value(moved(a.array, b.array.astype(a.array.dtype)))
        t = shared(a.array.dtype, b.array.dtype)
        return operate(e.op, a.to(t), b.to(t))

    def _choose(self, e: Choose, wanted: np.dtype[Any] | None) -> Value:
        cond = self._truth(e.cond)
        t = self._type(wanted, e.then, e.other)
        a, b = self._under(e.cond, cond, e.then, t), self._under(e.cond, ~cond, e.other, t)
        t = shared(a.array.dtype, b.array.dtype)
        a, b = a.to(t), b.to(t)
        return Value(np.where(cond, a.array, b.array), max(a.error, b.error))

    def _apply(self, e: Apply, wanted: np.dtype[Any] | None) -> Value:
        if e.function in NAMES:
            t = NAMES[e.function]
            x = self.value(e.arguments[0], self._type(computed(t), e.arguments[0])).to(t)
            if t in (F16, BF16) and x.error:
                x = Value(x.array, x.error + rounding(t) * x.most)
            return Value(x.array.astype(computed(t)), x.error)
        own = self._type(wanted, *e.arguments)
        if e.function in CHOICES and not (own is not None and is_float(own)):
            given = [self.value(a, I32) for a in e.arguments]
            if not any(is_float(x.array.dtype) for x in given):
                t = I32
                for x in given:
                    t = (
                        shared(t, x.array.dtype)
                        if x is not given[0]
                        else shared(x.array.dtype, x.array.dtype)
                    )
                return choice(e.function, [x.to(t) for x in given])
        t = own if own is not None and is_float(own) else F32
        if e.function not in CHOICES and e.function not in BASES:
            t = F32
        given = [self.value(a, t).to(t) for a in e.arguments]
        if e.function in CHOICES:
            return choice(e.function, given)
        return _function(e.function if e.function in BASES else e.function.removesuffix("f"), given)


def choice(name: str, given: list[Value]) -> Value:
    """min, max, abs."""
    error = max(x.error for x in given)
    if name == "abs":
        return Value(np.abs(given[0].array), error)
    return Value((np.fmin if name == "min" else np.fmax)(given[0].array, given[1].array), error)


def operate(op: str, a: Value, b: Value) -> Value:
    """An operator on two values of one type."""
    x, y, t = a.array, b.array, a.array.dtype
    inexact = a.error + b.error > 0
    with np.errstate(all="ignore"):
        if op in COMPARISONS:
            if inexact:
                raise DoubtfulError
            return Value(_COMPARED[op](x, y).astype(I32))
        if op in ("/", "%"):
            return _divided(op, a, b)
        out = _COMPUTED[op](x, y)
        error = a.error * max(b.most, 1.0) + b.error * max(a.most, 1.0) if op == "*" else a.error + b.error
        found = Value(out, error)
    if not np.isfinite(out).all():
        raise DoubtfulError
    return Value(out, error + (rounding(t) * found.most if inexact else 0.0))


_COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal,
    ">=": np.greater_equal,
}  # fmt: skip
_COMPUTED: dict[str, Callable[[Array, Array], Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor,
}  # fmt: skip


def _divided(op: str, a: Value, b: Value) -> Value:
    x, y, t = a.array, b.array, a.array.dtype
    if (y == 0).any():
        raise DoubtfulError
    if is_float(t):
        out, least = x / y, float(np.abs(y.astype(F64)).min()) - b.error
        if not np.isfinite(out).all() or least <= 0:
            raise DoubtfulError
        error = (a.error + b.error * float(np.abs(out).max())) / least
        return Value(out, error + (rounding(t) * float(np.abs(out).max()) if error else 0.0))
    quotient = np.where((x < 0) != (y < 0), -(np.abs(x) // np.abs(y)), np.abs(x) // np.abs(y)).astype(t)
    return Value(quotient if op == "/" else (x - quotient * y).astype(t))


_SMOOTH = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "asinh": np.arcsinh,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp10": lambda x: np.power(10.0, x.astype(F64)).astype(x.dtype),
}


def _function(name: str, given: list[Value]) -> Value:
    """A function of math.h."""
    x = given[0]
    if name in ("fmax", "fmin", "fabs"):
        return choice({"fmax": "max", "fmin": "min", "fabs": "abs"}[name], given)
    if name == "floor":
        if x.error:
            raise DoubtfulError
        return Value(np.floor(x.array))
    with np.errstate(all="ignore"):
        if name == "fdim":
            out = np.maximum(x.array - given[1].array, 0)
        elif name == "pow":
            out = np.power(x.array, given[1].array)
        elif name in ("erf", "erfc"):
            out = np.vectorize(erf if name == "erf" else erfc, otypes=[F64])(x.array).astype(x.array.dtype)
        else:
            out = _SMOOTH[name](x.array)
    rough = ("sqrt", "pow", "rsqrt", "fdim")
    if not np.isfinite(out).all() or (any(g.error for g in given) and name in rough):
        raise DoubtfulError
    most = float(np.abs(out).max(initial=0.0))
    if name == "sqrt":
        return Value(out)
    slope = max(1.2, most * 2.4) if name in ("exp", "exp10") else 1.2
    return Value(out, x.error * slope * 1.5 + 8 * rounding(x.array.dtype) * max(most, 1e-6))
