"""One (program, schedule) pair through the whole path: refused with codes, or run and judged."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine
from mdh.reference.error import Bounded
from mdh.reference.judge import draw_expected
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.verdict import fits
from tests.support.arrays import Arrays, random_arrays
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule


@dataclass(frozen=True, slots=True)
class Outcome:
    """kind: `equal`, `rejected` (by codes), `different`, `crash` (no diagnostic), `report` (of a checker)."""

    kind: str
    detail: str = ""


def planned(program: Program, schedule: Schedule | None, machine: Machine, target: str) -> Plan:
    """The checked plan; stages without a section get the default one. Raises Failed."""
    default = default_of(program, machine, target, schedule)
    return check(program, schedule or default, machine, target, default=default)


_DEFAULTS: dict[tuple[object, ...], tuple[Program, Machine, Schedule]] = {}
"""By the identity of programs and machines, which live as long as they stand here."""


def default_of(program: Program, machine: Machine, target: str, given: Schedule | None = None) -> Schedule:
    """The default schedule beside a given one. It is derived once for all schedules of a program that have
    steps for the same stages, and the same loops. Raises Failed."""
    sections = () if given is None else given.sections
    ways = frozenset((s.name, s.how, s.derived) for s in sections)
    loops = () if given is None else given.loops
    key = (id(program), id(machine), target, ways, loops)
    if key not in _DEFAULTS:
        if len(_DEFAULTS) >= 256:
            _DEFAULTS.clear()
        found = default_for(program, machine, target, given=given)
        _DEFAULTS[key] = program, machine, found
    return _DEFAULTS[key][2]


def rejected(failed: Failed) -> Outcome:
    return Outcome("rejected", " ".join(sorted({d.code for d in failed.diagnostics})))


def difference(name: str, got: np.ndarray, want: Bounded) -> str | None:
    """What is wrong with `got`, None where every element is within its bound (NaN equals NaN)."""
    bad = ~fits(got, want)
    if not bad.any():
        return None
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    return (
        f"{name}{list(where)} is {got[where]}, not {want.value[where]}; {int(bad.sum())} of {bad.size} differ"
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """Arrays before a run, and what the reference says of those that the program writes."""

    arrays: Arrays
    want: Mapping[str, Bounded]


def drawn(program: Program, arrays: Arrays, scalars: Mapping[str, float]) -> Drawn:
    return Drawn(arrays, draw_expected(program, lambda _: (arrays, scalars), attempts=1).expected.want)


def judged(before: Drawn, got: Arrays) -> Outcome:
    """`got`: the arrays after the run on copies of those before. Inputs must be as they were."""
    for name, array in got.items():
        if name not in before.want:
            if array.tobytes() != before.arrays[name].tobytes():
                return Outcome("different", f"input {name} was changed")
        elif (what := difference(name, array, before.want[name])) is not None:
            return Outcome("different", what)
    return Outcome("equal")


def arguments(program: Program, below: Mapping[str, int], seed: int) -> Arrays:
    """Small integers for even seeds, random values for odd ones."""
    return random_arrays(program, seed, "exact" if seed % 2 == 0 else "random", below)


def run_pair(seed: int, device: Device, machine: Machine) -> tuple[Outcome, str]:
    """Random program `seed` with random schedule `seed`: what came of it, and both texts."""
    random = random_program(seed)
    texts = random.text
    try:
        program = read_program(random.source)
        text = random_schedule(program, machine, seed)
        texts += text
        schedule = parse_schedule(Source(f"random_{seed}.mdh", text))
        plan = planned(program, schedule, machine, device.target)
    except Failed as failed:
        return rejected(failed), texts
    arrays = arguments(program, random.below, seed)
    return execute(plan, device, arrays, random.scalars), texts


def execute(plan: Plan, device: Device, arrays: Arrays, scalars: Mapping[str, float]) -> Outcome:
    """Lower, build, run on copies of `arrays` and judge; an accepted plan may not fail."""
    return execute_on_each(plan, device, [drawn(plan.program, arrays, scalars)], scalars)


def execute_on_each(
    plan: Plan, device: Device, inputs: Iterable[Drawn], scalars: Mapping[str, float]
) -> Outcome:
    """Build once and run on copies of each of `inputs`: the first outcome that is not `equal`, or that."""
    program = plan.program
    typed = {s.name: numpy_dtype(s.dtype).type(scalars.get(s.name, s.size)) for s in program.scalars}
    try:
        built = device.build(emit(lower(plan), program))
        for before in inputs:
            mine = {k: v.copy() for k, v in before.arrays.items()}
            built.call(mine, typed).launch()
            outcome = judged(before, mine)
            if outcome.kind != "equal":
                return outcome
    except Failed as failed:
        return Outcome("report", "; ".join(f"{d.code}: {d.headline}" for d in failed.diagnostics)[:600])
    return Outcome("equal")
