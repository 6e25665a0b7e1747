"""Large results: the vectorised reference judges every element, and the C text itself some of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.ir.program import Program
from mdh.reference.error import Bounded
from mdh.reference.interpreter import Elements, EndlessLoop, UnknownMeaning, interpret_elements
from mdh.reference.numbers import Array
from mdh.reference.slicing import SampledSlice, sampled

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


COUNT = 1000
"""The number of elements that the C text is interpreted for, if their slices are small enough."""
EXECUTIONS = 4_200_000
"""The most statements for that: a thousand sums of four thousand terms, in a quarter of a minute."""
FEW = 1_600_000
"""The same for the tuner, which has less time: about five seconds."""


def interpreted_sample(
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, Any],
    *,
    seed: int = 0,
    executions: int = EXECUTIONS,
) -> tuple[SampledSlice, dict[str, Bounded]] | None:
    """Sampled elements with the C text's results; None if no slice is small enough.

    scalars: every scalar parameter. Raises what `interpret_elements` does: Failed A130, A131, Undecided.
    """
    function = program.syntax
    if function is None:
        return None
    shapes = {b.name: b.shape for b in program.buffers if b.name in program.params}
    written = {name for stage in program.stages for name in stage.written}
    outputs = [name for name in shapes if name in written]
    given = {name: arrays[name].reshape(shape) for name, shape in shapes.items()}
    sample = sampled(function, scalars, shapes, outputs, given, count=COUNT, seed=seed, budget=executions)
    if sample is None:
        return None
    try:
        found = interpret_elements(
            function, given, scalars, only=sample.only, strict=program.strict_fp, limit=2 * executions
        )
    except (UnknownMeaning, EndlessLoop):
        return None
    return sample, picked(found, given, sample.elements)
