"""Error bounds through operations, comparisons, functions and reductions."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mdh.ir.dtype import F64, DType
from mdh.ir.expr import COMPARISONS
from mdh.ir.program import Operator
from mdh.reference.exact import CArithmetic, flattened
from mdh.reference.numbers import Array, smallest, unit_roundoff

__all__ = ["COMPARISONS", "Bounded"]
_C = CArithmetic()


@dataclass(slots=True)
class Bounded:
    """Values with the absolute error allowed at each; None allows none. Buffers are filled in place.

    also: other results that are equally right, in an array that a program writes.
    """

    value: Array
    bound: Array | None = None
    also: "Bounded | None" = None

    @property
    def slack(self) -> Array:
        return np.zeros(()) if self.bound is None else self.bound


def sum_factor(count: int) -> float:
    """The rounding errors of a sum of `count` terms in any order, in units of u S: 4 sqrt(n) + 16."""
    return 4.0 * sqrt(count) + 16.0


def repeats(values: Array, axes: tuple[int, ...]) -> Array:
    """How often the most frequent nonzero value occurs among the terms that are summed over `axes`, which
    keep the size 1. Equal terms are rounded alike while the sum stays in one binade, so their errors add up,
    and sqrt(n), which holds for independent errors, does not apply."""
    kept = tuple(1 if i in axes else n for i, n in enumerate(values.shape))
    rows = np.sort(flattened(values, axes), axis=-1).reshape(-1)
    length = values.size // max(1, int(np.prod(kept)))
    if rows.size == 0 or length < 2:
        return np.ones(kept)
    new = np.empty(rows.size, bool)
    np.not_equal(rows[1:], rows[:-1], out=new[1:])
    new[::length] = True
    first = np.flatnonzero(new)
    runs = np.diff(first, append=rows.size)
    runs[rows[first] == 0] = 1
    # the runs of a row begin at its first element
    return np.maximum.reduceat(runs, np.searchsorted(first, np.arange(0, rows.size, length))).reshape(kept)


def clean(bound: Array) -> Array:
    """The bound, with infinity where it could not be computed (inf - inf), so that everything is allowed."""
    return np.where(np.isnan(bound), np.inf, bound)


def added(*bounds: Array | None) -> Array | None:
    """The sum of bounds; None if none allows an error."""
    known = [b for b in bounds if b is not None]
    return sum(known[1:], known[0]) if known else None


def whole(*values: Array) -> bool:
    """Whether all values are integers."""
    return all(bool((v == np.rint(v)).all()) for v in values)


def propagated(op: str, a: Bounded, b: Bounded, value: Array) -> Array | None:
    """The error in `value` = a op b that comes from the operands' errors."""
    if a.bound is None and b.bound is None:
        return None
    x, y, ex, ey = np.abs(a.value), np.abs(b.value), a.slack, b.slack
    with np.errstate(all="ignore"):
        match op:
            case "+" | "-":
                return clean(ex + ey)
            case "*":
                return clean(_moved(x, ey) + _moved(y, ex) + _moved(ex, ey))
            case "/":
                return clean(np.where(y > ey, (ex + _moved(np.abs(value), ey)) / (y - ey), np.inf))
            case _:
                return np.where(ex + ey > 0, np.inf, 0.0)


def _moved(factor: Array, e: Array) -> Array:
    """factor * e; zero if there is no error, even for an infinite factor."""
    return np.where(e == 0, 0.0, factor * e)


def ambiguous(op: str, a: Bounded, b: Bounded) -> Array | None:
    """1 where a comparison could have either result; None if it cannot anywhere."""
    if a.bound is None and b.bound is None:
        return None
    if op in ("&&", "||"):
        doubt = (a.slack > 0) | (b.slack > 0)
    else:
        with np.errstate(all="ignore"):
            doubt = np.abs(a.value - b.value) <= a.slack + b.slack
            doubt &= (a.slack > 0) | (b.slack > 0)
    return doubt.astype(np.float64) if doubt.any() else None


def selected(cond: Bounded, then: Bounded, other: Bounded) -> Array | None:
    """The error of a selection: where the condition is in doubt, either side is possible."""
    if cond.bound is None:
        if then.bound is None and other.bound is None:
            return None
        return np.where(cond.value != 0, then.slack, other.slack)
    with np.errstate(all="ignore"):
        apart = np.maximum(then.slack, other.slack) + np.abs(
            np.subtract(then.value, other.value, dtype=np.float64)
        )
        sure = np.where(cond.value != 0, then.slack, other.slack)
        return clean(np.where(cond.bound > 0, apart, sure))


def truncated(a: Bounded, value: Array) -> Array | None:
    """The error of an integer that is converted from a rounded float."""
    if a.bound is None:
        return None
    with np.errstate(all="ignore"):
        low, high = np.trunc(a.value - a.bound), np.trunc(a.value + a.bound)
        off = clean(np.maximum(high - value, value - low))
    return off if off.any() else None


def through(apply: Callable[..., Array], args: tuple[Bounded, ...], value: Array) -> Array | None:
    """The error in a function's value that comes from the arguments' errors."""
    out: Array | None = None
    for i, a in enumerate(args):
        if a.bound is None:
            continue
        for moved in (a.value - a.bound, a.value + a.bound):
            values = [x.value for x in args]
            values[i] = moved
            with np.errstate(all="ignore"):
                off = np.abs(np.subtract(apply(*values), value, dtype=np.float64))
            out = off if out is None else np.maximum(out, off)
    return None if out is None else clean(out)


def wide_combined(op: Operator, start: Array | None, values: Array, axes: tuple[int, ...]) -> Array:
    """Products, minima, maxima and logical reductions of doubles over `axes`, which keep the size 1."""
    if op.name != "*":
        return _C.reduce(op, start, values, axes, F64)
    with np.errstate(all="ignore"):
        product = np.multiply.reduce(values, axis=axes, keepdims=True)
        return np.asarray(product if start is None else start * product)


def reduced(
    op: Operator, start: Bounded | None, values: Bounded, value: Array, axes: tuple[int, ...], dtype: DType,
    count: int, *, exact: bool,
) -> Array | None:  # fmt: skip
    """The error of a reduction other than a sum of floats."""
    known = values.bound is None and (start is None or start.bound is None)
    first = np.zeros(()) if start is None else certain(start)
    spread = certain(values)
    match op.name:
        case "*" if dtype.is_float:
            if known and exact and whole(values.value) and bool((np.abs(value) < 2.0**8).all()):
                return None
            with np.errstate(all="ignore"):
                at_most = np.multiply.reduce(np.abs(values.value) + spread, axis=axes, keepdims=True)
                if start is not None:
                    at_most = at_most * (np.abs(start.value) + start.slack)
                moved = np.zeros(()) if known else at_most - np.abs(value)
                return clean(moved + (count + 16) * unit_roundoff(dtype) * at_most + smallest(dtype))
        case _ if known:
            return None
        case "min" | "max":
            return np.asarray(np.maximum(np.max(spread, axis=axes, keepdims=True), first))
        case "+":
            return np.asarray(np.sum(spread, axis=axes, keepdims=True) + first)
        case _:
            doubt = np.any(spread > 0, axis=axes, keepdims=True) | (first > 0)
            return np.where(doubt, np.inf, 0.0)


def scanned(
    prefixes: Callable[[Operator, Array | None, Array], Array], op: Operator, start: Bounded | None,
    values: Bounded, value: Array, dtype: DType, axes: tuple[int, ...], *, exact: bool,
) -> Array | None:  # fmt: skip
    """The error of prefixes. prefixes: computes those of doubles with another operator or other values."""
    known = values.bound is None and (start is None or start.bound is None)
    rounds = dtype.is_float and op.name in ("+", "*")
    first = None if start is None else certain(start)
    if known and not rounds:
        return None
    if op.name in ("min", "max"):
        return prefixes(Operator("max"), first if first is not None else np.zeros(()), certain(values))
    if not dtype.is_float or op.name not in ("+", "*"):
        doubt = prefixes(Operator("+"), first, _full(values))
        return doubt if op.name == "+" else np.where(doubt > 0, np.inf, 0.0)
    count = int(np.prod([values.value.shape[i] for i in axes]))
    magnitude = None if start is None else np.abs(start.value) + start.slack
    size = prefixes(op, magnitude, np.abs(values.value) + values.slack)
    if known and exact and whole(values.value, value) and bool((size <= 2.0 ** _bits(op, dtype)).all()):
        return None
    factor = sum_factor(count) if op.name == "+" else count + 16.0
    own = factor * unit_roundoff(dtype) * size + smallest(dtype)
    if known:
        return clean(own)
    moved = prefixes(Operator("+"), first, _full(values)) if op.name == "+" else size - np.abs(value)
    return clean(own + moved)


def _bits(op: Operator, dtype: DType) -> int:
    return round(-np.log2(unit_roundoff(dtype))) if op.name == "+" else 8


def _full(v: Bounded) -> Array:
    return np.broadcast_to(v.slack, v.value.shape)


def certain(v: Bounded) -> Array:
    """The error at each value; zero at NaNs."""
    if v.bound is None or v.value.dtype.kind != "f":
        return _full(v)
    return np.where(np.isnan(v.value), 0.0, v.bound)


def line(v: Bounded, axes: tuple[int, ...]) -> Bounded:
    """The values with the reduced axes last, flattened in C's order."""
    return Bounded(flattened(v.value, axes), None if v.bound is None else flattened(v.bound, axes))


def prepended(start: Bounded, v: Bounded, kept: tuple[int, ...]) -> Bounded:
    """`start` as the first element of each line."""
    head = v.value.shape[:-1]

    def first(x: Array) -> Array:
        return np.broadcast_to(x, kept).reshape(*head, 1)

    value = np.concatenate([first(start.value).astype(v.value.dtype), v.value], axis=-1)
    if v.bound is None and start.bound is None:
        return Bounded(value)
    return Bounded(
        value, np.concatenate([first(start.slack), np.broadcast_to(v.slack, v.value.shape)], axis=-1)
    )


def close_keys(op: Operator, keys: Bounded, at: Array) -> Array | None:
    """Where another key of the line could be the best; None if all keys are exact."""
    if keys.bound is None:
        return None
    top = np.take_along_axis(keys.value, at, axis=-1)
    off = np.take_along_axis(keys.bound, at, axis=-1)
    sign = 1 if op.name == "argmax" else -1
    near = sign * keys.value + keys.bound >= sign * top - off
    return np.asarray(near.sum(axis=-1) > 1)
