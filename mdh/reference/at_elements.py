"""Two references of one result: one of every element, and a better one of some."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mdh.reference.error import Bounded

Elements = Mapping[str, tuple[NDArray[np.int64], ...]]
"""Indices of elements, by array: one array a dimension."""


class DisagreementError(Exception):
    """The two references differ by more than both may be off: one of them is wrong, a bug of mdh."""


def replaced(every: Mapping[str, Bounded], some: Mapping[str, Bounded], at: Elements) -> dict[str, Bounded]:
    """`every` with the values and the bounds of `some` at its elements, for the judge of a kernel's result.

    some: as many values as `at` has elements, in their order. Raises DisagreementError.
    """
    out = dict(every)
    for name, index in at.items():
        whole, own = every[name], some[name]
        _agree(name, index, Bounded(whole.value[index], _of(whole.bound, whole, index)), own)
        value = whole.value.copy()
        value[index] = own.value
        bound = whole.bound
        if bound is not None or own.bound is not None:
            bound = np.zeros(value.shape) if bound is None else np.broadcast_to(bound, value.shape).copy()
            bound[index] = own.slack
        out[name] = Bounded(value, bound)
    return out


def _of(
    bound: NDArray[np.float64] | None, whole: Bounded, index: tuple[NDArray[np.int64], ...]
) -> NDArray[np.float64] | None:
    return None if bound is None else np.broadcast_to(bound, whole.value.shape)[index]


def _agree(name: str, index: tuple[NDArray[np.int64], ...], a: Bounded, b: Bounded) -> None:
    """As far as their bounds say; NaN equals NaN."""
    with np.errstate(all="ignore"):
        good = (a.value == b.value) | (np.isnan(a.value) & np.isnan(b.value))
        good |= np.abs(a.value - b.value) <= a.slack + b.slack
    if good.all():
        return
    k = int(np.flatnonzero(~good)[0])
    place = name + "".join(f"[{int(i[k])}]" for i in index)
    raise DisagreementError(
        f"{place} is {a.value[k]} by the vectorised reference and {b.value[k]} by the C text, and they may be"
        f" off by {_slack(a, k):.3g} and {_slack(b, k):.3g}; {int((~good).sum())} of {good.size} differ"
    )


def _slack(b: Bounded, k: int) -> float:
    return float(np.broadcast_to(b.slack, b.value.shape)[k])
