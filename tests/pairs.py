"""One (program, schedule) pair through the whole path: refused with codes, or run and judged."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mdh.check.run import check
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.reference import evaluate_bounded
from mdh.reference.error import Bounded
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from tests.arrays import Arrays, random_arrays


@dataclass(frozen=True, slots=True)
class Outcome:
    """kind: `equal`, `rejected` (by codes), `different`, `crash` (no diagnostic), `report` (of a checker)."""

    kind: str
    detail: str = ""


def planned(program: Program, schedule: Schedule | None, machine: Machine, target: str) -> Plan:
    """The checked plan; stages without a section get the default one. Raises Failed."""
    default = default_schedule(program, machine, target)
    return check(program, schedule or default, machine, target, default=default)


def rejected(failed: Failed) -> Outcome:
    return Outcome("rejected", " ".join(sorted({d.code for d in failed.diagnostics})))


def difference(name: str, got: np.ndarray, want: Bounded) -> str | None:
    """What is wrong with `got`, None where every element is within its bound (NaN equals NaN)."""
    mine = got.astype(want.value.dtype)
    with np.errstate(all="ignore"):
        good = (mine == want.value) | (np.isnan(mine) & np.isnan(want.value))
        if want.bound is not None:
            good |= np.abs(mine - want.value) <= want.bound
    bad = ~good
    if not bad.any():
        return None
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    return (
        f"{name}{list(where)} is {got[where]}, not {want.value[where]}; {int(bad.sum())} of {bad.size} differ"
    )


def judged(program: Program, arrays: Arrays, scalars: Mapping[str, float], got: Arrays) -> Outcome:
    """`got`: the arrays after the run on copies of `arrays`. Inputs must be as they were."""
    want = evaluate_bounded(program, arrays, scalars)
    for name, array in got.items():
        if name not in want:
            if array.tobytes() != arrays[name].tobytes():
                return Outcome("different", f"input {name} was changed")
        elif (what := difference(name, array, want[name])) is not None:
            return Outcome("different", what)
    return Outcome("equal")


def arguments(program: Program, below: Mapping[str, int], seed: int) -> Arrays:
    """Small integers for even seeds, random values for odd ones."""
    return random_arrays(program, seed, "exact" if seed % 2 == 0 else "random", below)
