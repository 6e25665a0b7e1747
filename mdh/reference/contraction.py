"""Sums of products over a box, which is not expanded, by the matrix products of numpy."""

import numpy as np

from mdh.reference.numbers import Array

_EXACT = (np.dtype(np.float32), 2.0**24), (np.dtype(np.float64), 2.0**53)
"""Types whose matrix products are fast, the faster first, and the integers up to which they are exact."""


def contraction(a: Array, b: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """sum over `axes` of a * b on a box of `shape`; a and b have size 1 where they do not depend on an axis.

    The result keeps all axes, the summed ones with size 1.
    """
    every = range(len(shape))
    a, b = np.asarray(a).reshape(_open(a, shape)), np.asarray(b).reshape(_open(b, shape))
    in_a, in_b = [n > 1 for n in a.shape], [n > 1 for n in b.shape]
    repeats = 1
    for axis in axes:
        if not in_a[axis] and not in_b[axis]:
            repeats *= shape[axis]
    # axes that only one factor has are summed before the product
    a = a.sum(axis=tuple(i for i in axes if in_a[i] and not in_b[i]), keepdims=True)
    b = b.sum(axis=tuple(i for i in axes if in_b[i] and not in_a[i]), keepdims=True)
    summed = [i for i in axes if in_a[i] and in_b[i]]
    batch = [i for i in every if i not in axes and in_a[i] and in_b[i]]
    rows = [i for i in every if i not in axes and in_a[i] and not in_b[i]]
    columns = [i for i in every if i not in axes and in_b[i] and not in_a[i]]
    product = _matmul(_grouped(a, batch, rows, summed), _grouped(b, batch, summed, columns))
    order = batch + rows + columns
    out = product.reshape([shape[i] for i in order])
    out = out.transpose(np.argsort(order)) if order else out
    kept = [shape[i] if i in order else 1 for i in every]
    full = [1 if i in axes else shape[i] for i in every]
    return np.broadcast_to(out.reshape(kept) * repeats, full)


def _open(x: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    x = np.asarray(x)
    return (1,) * (len(shape) - x.ndim) + x.shape


def _grouped(x: Array, *groups: list[int]) -> Array:
    """The array with one axis for each group of axes. Axes in no group have size 1."""
    order = [i for group in groups for i in group]
    sizes = [int(np.prod([x.shape[i] for i in group], dtype=np.int64)) for group in groups]
    rest = [i for i in range(x.ndim) if i not in order]
    return x.transpose(order + rest).reshape(sizes)


def _matmul(a: Array, b: Array) -> Array:
    """The matrix product. Integers, also those in floats, give exact sums, or sums that wrap in 64 bits."""
    held = np.result_type(a, b)
    if held.kind == "f" and not (_whole(a) and _whole(b)):
        return np.asarray(np.matmul(a, b))
    most = _largest(a) * _largest(b) * a.shape[-1]
    fast = next((dtype for dtype, limit in _EXACT if most <= limit), None)
    if fast is not None:
        return np.asarray(np.matmul(a.astype(fast), b.astype(fast)).astype(held))
    if held.kind == "f":
        return np.asarray(np.matmul(a, b))
    wide = np.dtype(np.uint64 if held.kind == "u" else np.int64)
    return np.asarray(np.matmul(a.astype(wide), b.astype(wide)))


def _whole(x: Array) -> bool:
    return x.dtype.kind != "f" or bool((x == np.rint(x)).all())


def _largest(x: Array) -> float:
    """The largest absolute value."""
    return max(-float(x.min(initial=0)), float(x.max(initial=0)))
