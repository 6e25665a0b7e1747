"""C's arithmetic: integers wrap and truncate, floats round after each operation, sums go in C's order."""

from typing import Any

import numpy as np

from mdh.ir.dtype import F32, DType, integer_range
from mdh.ir.numerics import Numerics
from mdh.ir.program import Operator
from mdh.reference.functions import FUNCTIONS
from mdh.reference.numbers import Array, converted, numpy_dtype

_COMPARE = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal, "&&": np.logical_and, "||": np.logical_or,
}  # fmt: skip
_ARITHMETIC: dict[str, np.ufunc] = {
    "+": np.add, "-": np.subtract, "*": np.multiply,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
_COMBINE: dict[str, np.ufunc] = {
    "+": np.add, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip


class CArithmetic:
    """C's arithmetic on arrays of the C type's values. Nothing is re-associated, contracted or held in a
    wider type."""

    reorders = False

    def of(self, array: Array, dtype: DType) -> Array:
        return np.asarray(array, numpy_dtype(dtype))

    def plain(self, v: Array) -> Array:
        return v

    def take(self, v: Array, index: tuple[Array, ...]) -> Array:
        return np.asarray(v[index])

    def put(self, v: Array, index: tuple[Array, ...], value: Array, dtype: DType) -> None:
        where, shape = placed(index, value.shape)
        v[where] = np.broadcast_to(value, shape) if shape else value.reshape(())

    def copy(self, v: Array) -> Array:
        return v.copy()

    def broadcast(self, v: Array, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(v, shape)

    def unary(self, op: str, a: Array, dtype: DType) -> Array:
        match op:
            case "-":
                return _as(np.negative(_as(a, dtype)), dtype)
            case "~":
                return _as(np.invert(_as(a, dtype)), dtype)
            case _:
                return _as(a == 0, dtype)

    def binary(self, op: str, a: Array, b: Array, operands: DType, dtype: DType) -> Array:
        if op in _COMPARE:
            return _as(_COMPARE[op](a, b), dtype)
        with np.errstate(all="ignore"):
            a, b = _as(a, dtype), _as(b, dtype)
            if op in _ARITHMETIC:
                return _as(_ARITHMETIC[op](a, b), dtype)
            if dtype.is_float:
                return _as(np.divide(a, b), dtype)
            return _truncated_quotient(a, b) if op == "/" else _as(np.fmod(a, b), dtype)

    def select(self, cond: Array, then: Array, other: Array, dtype: DType) -> Array:
        return np.where(cond != 0, _as(then, dtype), _as(other, dtype))

    def cast(self, a: Array, source: DType, dtype: DType) -> Array:
        return a if source == dtype else _as(a, dtype)

    def call(self, fn: str, args: tuple[Array, ...], dtype: DType) -> Array:
        # math.h has no functions for 16-bit floats
        held = F32 if dtype.is_float and dtype.bits < 32 else dtype
        with np.errstate(all="ignore"):
            return _as(np.asarray(FUNCTIONS[fn].apply(*(_as(a, held) for a in args))), dtype)

    def reduce(
        self,
        op: Operator,
        start: Array | None,
        values: Array,
        axes: tuple[int, ...],
        dtype: DType,
        count: int = 0,
    ) -> Array:
        values = _as(values, dtype)
        kept = tuple(1 if i in axes else n for i, n in enumerate(values.shape))
        with np.errstate(all="ignore"):
            if op.name in _COMBINE and dtype.is_float:
                line = flattened(values, axes)
                if op.rounded is not None:
                    first = (
                        line[..., 0]
                        if start is None
                        else np.broadcast_to(start, kept).reshape(line.shape[:-1])
                    )
                    rest = line[..., 1:] if start is None else line
                    return _steps(op, first, rest, dtype)[..., -1].reshape(kept)
                if start is not None:
                    first = np.broadcast_to(_as(start, dtype), kept).reshape(*line.shape[:-1], 1)
                    line = np.concatenate([first, line], axis=-1)
                # accumulate, unlike reduce, adds one after another as the C loop does
                return np.asarray(_COMBINE[op.name].accumulate(line, axis=-1)[..., -1]).reshape(kept)
            if op.name in ("min", "max") and dtype.is_float and not op.nan:
                line = flattened(values, axes)
                if op.rounded is not None:
                    first = np.broadcast_to(self._begun(op, start, dtype), kept).reshape(line.shape[:-1])
                    return _steps(op, first, line, dtype)[..., -1].reshape(kept)
                if op.ordered or bool(np.isnan(values).any()):
                    first = np.broadcast_to(self._begun(op, start, dtype), kept).reshape(*line.shape[:-1], 1)
                    line = np.concatenate([first, line], axis=-1)
                    at = np.expand_dims(best(op, line, started=True), -1)
                    return np.take_along_axis(line, at, axis=-1).reshape(kept)
            if op.name in ("min", "max") and start is None and dtype.is_float:
                start = self._begun(op, None, dtype)
            return _joined(op, start, _combined(op, values, axes, dtype), dtype)

    def _begun(self, op: Operator, start: Array | None, dtype: DType) -> Array:
        """The first state: a reduction without a start begins, in C, at its identity."""
        return _as(identity(op, dtype) if start is None else start, dtype)

    def contract(
        self, start: Array | None, a: Array, b: Array, shape: tuple[int, ...], axes: tuple[int, ...],
        dtype: DType, count: int, product: DType, numerics: Numerics,
    ) -> Array:  # fmt: skip
        terms = np.broadcast_to(_as(np.multiply(a, b), product), shape)
        return self.reduce(Operator("+"), start, terms, axes, dtype)

    def reduce_record(
        self, op: Operator, start: tuple[Array, ...] | None, values: tuple[Array, ...], axes: tuple[int, ...]
    ) -> tuple[Array, ...]:
        kept = tuple(1 if i in axes else n for i, n in enumerate(values[0].shape))
        lines = [flattened(v, axes) for v in values]
        if start is not None:
            firsts = (np.broadcast_to(s, kept).reshape(*lines[0].shape[:-1], 1) for s in start)
            lines = [
                np.concatenate([f.astype(v.dtype), v], axis=-1) for f, v in zip(firsts, lines, strict=True)
            ]
        at = np.expand_dims(best(op, lines[0], started=start is not None), -1)
        return tuple(np.take_along_axis(v, at, axis=-1).reshape(kept) for v in lines)

    def scan(
        self, op: Operator, start: Array | None, values: Array, axes: tuple[int, ...], *, exclusive: bool,
        dtype: DType,
    ) -> Array:  # fmt: skip
        values = _as(values, dtype)
        with np.errstate(all="ignore"):
            if len(axes) > 1:
                for axis in axes:
                    values = self._prefixes(op, values, axis, dtype)
                return _joined(op, start, values, dtype)
            axis = axes[0]
            kept = tuple(1 if i == axis else n for i, n in enumerate(values.shape))
            if start is None and (exclusive or (op.name in ("min", "max") and dtype.is_float)):
                start = self._begun(op, None, dtype)
            if start is None:
                return self._prefixes(op, values, axis, dtype)
            line = np.concatenate([np.broadcast_to(_as(start, dtype), kept), values], axis=axis)
            done = self._prefixes(op, line, axis, dtype)
            return done.take(range(values.shape[axis]) if exclusive else range(1, done.shape[axis]), axis)

    def _prefixes(self, op: Operator, values: Array, axis: int, dtype: DType) -> Array:
        if op.rounded is not None:
            line = np.moveaxis(values, axis, -1)
            return np.moveaxis(_steps(op, line[..., 0], line[..., 1:], dtype), -1, axis)
        if op.name in _COMBINE:
            return _as(_COMBINE[op.name].accumulate(values, axis=axis, dtype=numpy_dtype(dtype)), dtype)
        out = np.moveaxis(values, axis, 0).copy()
        for i in range(1, len(out)):
            out[i] = _joined(op, out[i - 1], out[i], dtype)
        return np.moveaxis(out, 0, axis)

    def scatter(
        self, op: Operator, into: Array, index: tuple[Array, ...], values: Array, dtype: DType, count: int = 0
    ) -> None:
        shape = np.broadcast_shapes(values.shape, *(i.shape for i in index))
        at = tuple(np.broadcast_to(i, shape).ravel() for i in index)
        flat = np.broadcast_to(_as(values, dtype), shape).ravel()
        with np.errstate(all="ignore"):
            if op.name in _COMBINE and op.rounded is None:
                _COMBINE[op.name].at(into, at, flat)
            elif op.name in ("min", "max") and not _numbered(op, into, flat, dtype):
                _extreme(op, dtype).at(into, at, flat)
            else:
                for *i, v in zip(*at, flat, strict=True):
                    into[tuple(i)] = _joined(op, into[tuple(i)], v, dtype)


def placed(index: tuple[Array, ...], shape: tuple[int, ...]) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """Index arrays broadcast to the shape that they share with the values to be stored."""
    if not index:
        return (), ()
    full = np.broadcast_shapes(shape, *(i.shape for i in index))
    return tuple(np.broadcast_to(i, full) for i in index), full


def identity(op: Operator, dtype: DType) -> int | float:
    """The neutral element: what an exclusive prefix begins with and an empty bin holds."""
    match op.name:
        case "+" | "|" | "^" | "||":
            return 0
        case "*" | "&&":
            return 1
        case "&":
            return integer_range(dtype)[1] if dtype.kind == "uint" else -1
        case "min" | "argmin":
            return float("inf") if dtype.is_float else integer_range(dtype)[1]
        case _:
            return float("-inf") if dtype.is_float else integer_range(dtype)[0]


def best(op: Operator, keys: Array, *, started: bool) -> Array:
    """Position along the last axis of the key that C's comparisons keep, one key after another. started: the
    first key is C's starting value, which stays if it is a NaN and no comparison `takes` the next one."""
    greater = op.name in ("argmax", "max")
    count = keys.shape[-1]
    fallback = np.zeros(keys.shape[:-1], np.intp)
    alive = np.ones(keys.shape, bool)
    if keys.dtype.kind not in "iu":
        missing = np.isnan(keys)
        alive = ~missing
        if op.takes:
            # a comparison with a NaN is false on either side, so the last NaN is taken, and the keys after it
            fallback = np.where(missing.any(axis=-1), count - 1 - np.argmax(missing[..., ::-1], axis=-1), 0)
            alive = np.arange(count) > np.where(missing.any(axis=-1), fallback, -1)[..., None]
        elif started:
            alive &= ~missing[..., :1]
        worst = np.asarray(-np.inf if greater else np.inf, keys.dtype)
        keys = np.where(alive, keys, worst)
    top = np.max(keys, axis=-1, keepdims=True) if greater else np.min(keys, axis=-1, keepdims=True)
    hit = alive & (keys == top)
    at = count - 1 - np.argmax(hit[..., ::-1], axis=-1) if op.tie == "last" else np.argmax(hit, axis=-1)
    return np.where(hit.any(axis=-1), at, fallback)


def _as(a: Any, dtype: DType) -> Array:
    return converted(np.asarray(a), dtype)


def _truncated_quotient(a: Array, b: Array) -> Array:
    """C11 6.5.5: the quotient with the fraction discarded (numpy rounds down)."""
    q = np.asarray(np.floor_divide(a, b))
    away = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return np.asarray(q + away.astype(q.dtype))


def flattened(values: Array, axes: tuple[int, ...]) -> Array:
    """The values with the reduced axes last, flattened in C's order."""
    moved = np.moveaxis(values, axes, range(values.ndim - len(axes), values.ndim))
    return moved.reshape(*moved.shape[: values.ndim - len(axes)], -1)


def _numbered(op: Operator, into: Array, values: Array, dtype: DType) -> bool:
    """Whether points must be taken one by one: because of NaNs, or the sign of a zero."""
    if not dtype.is_float or op.nan:
        return False
    return op.ordered or bool(np.isnan(values).any()) or bool(np.isnan(into).any())


def _extreme(op: Operator, dtype: DType) -> np.ufunc:
    # the numbers among NaNs, as fmax gives
    if dtype.is_float:
        return np.fmax if op.name == "max" else np.fmin
    return np.maximum if op.name == "max" else np.minimum


def _combined(op: Operator, values: Array, axes: tuple[int, ...], dtype: DType) -> Array:
    match op.name:
        case "&&":
            return _as(np.all(values != 0, axis=axes, keepdims=True), dtype)
        case "||":
            return _as(np.any(values != 0, axis=axes, keepdims=True), dtype)
        case "min" | "max":
            return np.asarray(_extreme(op, dtype).reduce(values, axis=axes, keepdims=True))
        case _:
            held = numpy_dtype(dtype)
            return np.asarray(_COMBINE[op.name].reduce(values, axis=axes, dtype=held, keepdims=True))


def _joined(op: Operator, first: Array | None, second: Array, dtype: DType) -> Array:
    """first op second, `first` being earlier in C's order."""
    if first is None:
        return second
    a, b = _as(first, dtype), _as(second, dtype)
    match op.name:
        case "&&":
            return _as((a != 0) & (b != 0), dtype)
        case "||":
            return _as((a != 0) | (b != 0), dtype)
        case "min" | "max" if op.nan and dtype.is_float:
            return np.asarray(_extreme(op, dtype)(a, b))
        case "min" | "max":
            both = _compared(op, a, b)
            return both if op.rounded is None else _as(_as(both, op.rounded), dtype)
        case _:
            both = _as(_COMBINE[op.name](a, b), dtype)
            return both if op.rounded is None else _as(_as(both, op.rounded), dtype)


def _compared(op: Operator, a: Array, b: Array) -> Array:
    """The one of a (earlier) and b that C's comparison keeps."""
    x, y = (a, b) if op.takes else (b, a)
    closed = (op.tie == "first") == op.takes
    if op.name == "max":
        return np.where(x >= y if closed else x > y, x, y)
    return np.where(x <= y if closed else x < y, x, y)


def _steps(op: Operator, first: Array, rest: Array, dtype: DType) -> Array:
    """first, first op rest[0], …, along the last axis, each of them rounded as the operator says."""
    assert op.rounded is not None
    out = np.empty((*rest.shape[:-1], rest.shape[-1] + 1), numpy_dtype(dtype))
    out[..., 0] = _as(_as(first, op.rounded), dtype)
    for i in range(rest.shape[-1]):
        out[..., i + 1] = _joined(op, out[..., i], rest[..., i], dtype)
    return out
