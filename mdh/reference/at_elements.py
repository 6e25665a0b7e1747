"""Compares two references of a result: one for every element, and one for some, which runs the C text as it
is written."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mdh.reference.error import Bounded
from mdh.reference.interpreter import Elements
from mdh.reference.numbers import Array

Places = Mapping[str, tuple[NDArray[np.int64], ...]]
"""Indices of elements, by array: one index array for each dimension."""


class DisagreementError(AssertionError):
    """The references differ by more than both bounds allow: one of them is wrong, a bug of mdh."""


def picked(written: Mapping[str, Elements], before: Mapping[str, Array], at: Places) -> dict[str, Bounded]:
    """The elements of `at` that a slice has written. Other elements have their values from `before`."""
    out = {}
    for name, index in at.items():
        given = before[name]
        flat = np.ravel_multi_index(index, given.shape) if index else np.zeros(1, np.int64)
        value = given.reshape(-1)[flat].astype(np.float64 if given.dtype.kind not in "iu" else given.dtype)
        bound = np.zeros(len(flat))
        found = written.get(name)
        if found is not None and len(found.index):
            place = np.minimum(np.searchsorted(found.index, flat), len(found.index) - 1)
            held = found.index[place] == flat
            value[held] = found.value[place[held]]
            if found.bound is not None:
                bound[held] = found.bound[place[held]]
        out[name] = Bounded(value, bound if bound.any() else None)
    return out


def replaced(every: Mapping[str, Bounded], some: Mapping[str, Bounded], at: Places) -> dict[str, Bounded]:
    """`every` with the values and bounds of `some` at these elements; a kernel's result is judged by this.

    Raises DisagreementError, unless a comparison met a NaN: for some programs the vectorised reference then
    has only the result that skips NaNs (`also`), which differs from C's.
    """
    out = dict(every)
    for name, index in at.items():
        whole, own = every[name], some[name]
        held = None if whole.bound is None else np.broadcast_to(whole.bound, whole.value.shape)
        if whole.also is None:
            _agree(name, index, Bounded(whole.value[index], None if held is None else held[index]), own)
        value = whole.value.copy()
        value[index] = own.value
        bound = None
        if held is not None or own.bound is not None:
            bound = np.zeros(value.shape) if held is None else held.copy()
            bound[index] = own.slack
        out[name] = Bounded(value, bound, whole.also)
    return out


def _agree(name: str, index: tuple[NDArray[np.int64], ...], a: Bounded, b: Bounded) -> None:
    """Raises if the values differ by more than their bounds. NaN equals NaN."""
    with np.errstate(all="ignore"):
        good = (a.value == b.value) | (np.isnan(a.value) & np.isnan(b.value))
        good |= np.abs(a.value - b.value) <= a.slack + b.slack
    if good.all():
        return
    k = int(np.flatnonzero(~good)[0])
    place = name + "".join(f"[{int(i[k])}]" for i in index)
    off = [f"{float(np.broadcast_to(x.slack, x.value.shape)[k]):.3g}" for x in (a, b)]
    raise DisagreementError(
        f"{place} is {a.value[k]} by the vectorised reference and {b.value[k]} by the C text, which may be"
        f" off by {off[0]} and {off[1]}; {int((~good).sum())} of {good.size} sampled elements differ"
    )
