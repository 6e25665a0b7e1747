"""The value of an expression over an iteration box, in any arithmetic."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, assert_never

import numpy as np

from mdh.diagnostics import fail
from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from mdh.reference.arithmetic import Arithmetic, V
from mdh.reference.numbers import Array, numpy_dtype


@dataclass(frozen=True)
class EvaluationScope(Generic[V]):
    """The meaning of names: dimensions (coordinates of the box), scalars, locals, accumulators, buffers."""

    arithmetic: Arithmetic[V]
    names: dict[str, V]
    types: dict[str, DType]
    buffers: dict[str, V]


def value_of(e: Expr, scope: EvaluationScope[V], active: Array | None = None) -> V:
    """The value of `e` at each point of the box.

    `active` marks the points where C evaluates `e` (None: all); loads elsewhere may be out of bounds.
    Raises Failed A130 when a load at an active point is.
    """
    arithmetic = scope.arithmetic
    match e:
        case Const(value, dtype):
            return arithmetic.of(np.asarray(_wrapped(value, dtype)), dtype)
        case Var(name, dtype):
            return arithmetic.cast(scope.names[name], scope.types[name], dtype)
        case Load(buffer, index):
            return _load(buffer, index, scope, active)
        case Unary(op, arg, dtype):
            return arithmetic.unary(op, value_of(arg, scope, active), dtype)
        case Binary("&&" | "||" as op, left, right, dtype):
            first = value_of(left, scope, active)
            true = arithmetic.plain(first) != 0
            second = value_of(right, scope, _both(active, true if op == "&&" else ~true))
            return arithmetic.binary(op, first, second, left.dtype, dtype)
        case Binary(op, left, right, dtype):
            a, b = value_of(left, scope, active), value_of(right, scope, active)
            return arithmetic.binary(op, a, b, left.dtype, dtype)
        case Select(cond, then, other, dtype):
            test = value_of(cond, scope, active)
            true = arithmetic.plain(test) != 0
            chosen = value_of(then, scope, _both(active, true))
            rejected = value_of(other, scope, _both(active, ~true))
            return arithmetic.select(test, chosen, rejected, dtype)
        case Cast(arg, dtype):
            return arithmetic.cast(value_of(arg, scope, active), arg.dtype, dtype)
        case Call(fn, args, dtype):
            return arithmetic.call(fn, tuple(value_of(a, scope, active) for a in args), dtype)
        case _:
            assert_never(e)


def index_of(
    buffer: str, index: tuple[Expr, ...], scope: EvaluationScope[V], active: Array | None = None
) -> tuple[Array, ...]:
    """Index arrays into `buffer`, clipped where not active. Raises Failed A130 where they leave it."""
    arithmetic = scope.arithmetic
    shape = arithmetic.plain(scope.buffers[buffer]).shape
    out = []
    for axis, (e, n) in enumerate(zip(index, shape, strict=True)):
        at = np.asarray(arithmetic.plain(value_of(e, scope, active))).astype(np.int64)
        outside = (at < 0) | (at >= n)
        if outside.any():
            wrong = outside if active is None else outside & active
            if wrong.any():
                bad = int(np.broadcast_to(at, wrong.shape)[wrong][0])
                raise fail(
                    "A130",
                    f"index {bad} lies outside dimension {axis + 1} of `{buffer}`, which has {n} elements",
                    help="give index arrays whose values lie inside the array that they index",
                )  # fmt: skip
            at = np.clip(at, 0, n - 1)
        out.append(at)
    return tuple(out)


def met_where(
    conditions: Iterable[tuple[Expr, bool]], scope: EvaluationScope[V], shape: tuple[int, ...]
) -> Array:
    """Where all conditions have the given truth; each is evaluated where those before it have."""
    mask = np.ones(shape, bool)
    for cond, holds in conditions:
        true = np.asarray(scope.arithmetic.plain(value_of(cond, scope, mask))) != 0
        mask = mask & (true == holds)
    return mask


def _load(buffer: str, index: tuple[Expr, ...], scope: EvaluationScope[V], active: Array | None) -> V:
    return scope.arithmetic.take(scope.buffers[buffer], index_of(buffer, index, scope, active))


def _both(a: Array | None, b: Array) -> Array:
    return b if a is None else a & b


def _wrapped(value: int | float, dtype: DType) -> Array:
    """A constant in its type; integers wrap as C's conversions do."""
    if dtype.is_float:
        return np.asarray(value, numpy_dtype(dtype))
    return np.asarray(int(value) & (2**dtype.bits - 1), f"uint{dtype.bits}").astype(numpy_dtype(dtype))
