"""Reads of arrays at index arrays. Where these are consecutive numbers along different axes, they read a
window of the array, which is not copied."""

from math import prod

import numpy as np

from mdh.reference.numbers import Array


def taken(array: Array, index: tuple[Array, ...]) -> Array:
    """array[index]; not to be written to."""
    found = _window(array, index)
    return np.asarray(array[index]) if found is None else found


def _window(array: Array, index: tuple[Array, ...]) -> Array | None:
    """The same as a view; None if it is no window."""
    rank = max((at.ndim for at in index), default=0)
    ranges: list[slice] = []
    axes: list[int] = []
    for at in index:
        long = [axis for axis, n in enumerate(at.shape) if n > 1]
        first = int(at.flat[0]) if at.size else 0
        if len(long) > 1 or not at.size or first < 0:
            return None
        if long and not (np.diff(at.reshape(-1)) == 1).all():
            return None
        ranges.append(slice(first, first + at.size))
        # counted from the last one, as axes are where arrays of different ranks meet
        axes.extend(axis + rank - at.ndim for axis in long)
    shape = [1] * rank
    view = array[tuple(ranges)]
    if len(set(axes)) < len(axes) or prod(view.shape) != prod(n for n in view.shape if n > 1):
        return None
    kept = [n for n in view.shape if n > 1]
    for axis, n in zip(axes, kept, strict=True):
        shape[axis] = n
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    return view.reshape(kept).transpose(order).reshape(shape)
