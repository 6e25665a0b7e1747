"""Judges results: compares every element with the reference, within the allowed error."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mdh.diagnostics import Diagnostic
from mdh.ir.program import Program
from mdh.reference.error import Bounded
from mdh.reference.numbers import Array
from mdh.verify.arguments import Guarded


def judge(
    program: Program, before: Mapping[str, Array], after: Mapping[str, Guarded],
    want: Mapping[str, Bounded], right: Mapping[str, Array] = {},
) -> list[Diagnostic]:  # fmt: skip
    """Diagnostics: N101 a wrong element, N102 an input was changed, N103 memory outside an array was written.
    right: contents that were judged right before, with the same inputs."""
    found: list[Diagnostic] = []
    for name, held in after.items():
        if not held.intact:
            found.append(Diagnostic("N103", f"the kernel wrote outside of `{name}`"))
        if name in right and same_bits(held.array, right[name]):
            continue
        if name in want:
            found.extend(_wrong(name, held.array, want[name]))
        elif not same_bits(held.array, before[name]):
            found.append(
                Diagnostic("N102", f"`{program.name}` only reads `{name}`, and the kernel changed it")
            )
    return found


def _wrong(name: str, got: Array, want: Bounded) -> list[Diagnostic]:
    """The first wrong element in the array's order, and the number of wrong elements."""
    good = fits(got, want)
    if good.all():
        return []
    at = tuple(int(i) for i in np.argwhere(~good)[0])
    place = name + "".join(f"[{i}]" for i in at)
    allowed = "" if want.bound is None else f" ± {np.broadcast_to(want.bound, good.shape)[at]:.3g}"
    count = f"{int((~good).sum()):,} of {good.size:,} are wrong"
    wanted = str(want.value[at])
    if want.also is not None and str(want.also.value[at]) != wanted:
        wanted += f", nor {want.also.value[at]} as if NaNs were not there"
    headline = f"{place} is {got[at]}, not {wanted}{allowed}; {count}"
    witness = (("element", list(at)), ("got", str(got[at])), ("wanted", str(want.value[at])))
    return [Diagnostic("N101", headline, witness=witness)]


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays of one type and shape hold the same bytes."""
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return a.tobytes() == b.tobytes()
    word = next(t for t in (np.uint64, np.uint8) if a.nbytes % np.dtype(t).itemsize == 0)
    return bool(np.array_equal(a.reshape(-1).view(word), b.reshape(-1).view(word)))


def fits(got: Array, want: Bounded) -> NDArray[np.bool_]:
    """Which elements are right; NaN equals NaN."""
    mine = got.astype(want.value.dtype)
    with np.errstate(all="ignore"):
        good = np.asarray(mine == want.value)
        if want.bound is not None and not good.all():
            good |= np.abs(mine - want.value) <= want.bound
        if not good.all():
            good |= np.isnan(mine) & np.isnan(want.value)
            if want.bound is not None:
                # an infinite bound allows any result of an overflow, NaN included
                good |= np.isposinf(want.bound)
    return good if want.also is None else np.asarray(good | fits(got, want.also))
