"""Computes sums of products over an iteration box as matrix products."""

import numpy as np

from mdh.reference.numbers import Array


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
    left = _grouped(a, batch, rows, summed)
    right = _grouped(b, batch, summed, columns)
    product = np.matmul(left, right)
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
