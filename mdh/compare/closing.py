"""Fills the holes of a schedule for one platform, and says where the values come from."""

from dataclasses import dataclass, replace
from random import Random

from mdh.checker.open_default import default_for
from mdh.compare.recorded import Found, Shelf
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import machine_names
from mdh.pipeline import Pipeline
from mdh.results.trial import Candidate, Value
from mdh.schedule.holes import holes
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.records.key import Setting, candidate_key
from mdh.tuner.space.make import make_space
from mdh.tuner.warm_start.suggestions import first_point


@dataclass(frozen=True)
class Closed:
    """A plan, how its holes got their values (empty if it has none), and the record that has its time."""

    plan: Plan
    how: str = ""
    values: tuple[tuple[str, Value], ...] = ()
    found: Found | None = None


def is_open(schedule: Schedule | None) -> bool:
    """Whether it has holes. None is mdh's default, which has none."""
    return schedule is not None and any(True for _ in holes(schedule))


def closed(
    program: Program, schedule: Schedule | None, setting: Setting, shelf: Shelf, *, here: bool
) -> Closed | None:
    """The schedule itself, or with the values of the best tuning on record; None if it has holes and no
    tuning fills them. here: the setting is a device of this machine. Raises Failed as the checker does."""
    if not is_open(schedule):
        plan = checked(program, schedule, setting)
        return Closed(plan, found=None if here else shelf.timed(plan.text, setting))
    assert schedule is not None
    found = shelf.tuned(schedule, program, setting, here=here)
    if found is None:
        return None
    plan = checked(program, parse_schedule(Source(found.path, found.trial.candidate.schedule)), setting)
    return Closed(
        plan, f"tuned, trial {found.trial.number} of {found.path}", found.trial.candidate.values, found
    )


def first(program: Program, schedule: Schedule, setting: Setting) -> Closed:
    """The schedule's first point: the middle of every set of values. Raises Failed: errors of its space, or
    of every point of it."""
    machine, target = setting.machine, setting.target
    space = make_space(
        program, schedule, machine, target, deterministic=setting.deterministic,
        default=default_for(
            program, machine, target, deterministic=setting.deterministic, given=schedule
        ),
    )  # fmt: skip
    point = first_point(space, Random(0))
    point = space.nearest([v.values[0] for v in space.variables]) if point is None else point
    plan = space.plan(point)
    if isinstance(plan, Failed):
        raise plan
    values = tuple(zip((v.name for v in space.variables), point, strict=True))
    return Closed(plan, "not tuned: its first point", values)


def checked(program: Program, schedule: Schedule | None, setting: Setting) -> Plan:
    """The checked plan. Raises Failed as the checker does."""
    deterministic = setting.deterministic
    return (
        Pipeline().check(program, schedule, setting.machine, setting.target, deterministic=deterministic).plan
    )


def candidate_of(plan: Plan, setting: Setting, values: tuple[tuple[str, Value], ...]) -> Candidate:
    """A candidate for the bench. Its text names the machine only if mdh knows a machine of that name."""
    schedule = parse_schedule(Source("<compared>", plan.text))
    if plan.machine.name not in machine_names():
        schedule = replace(schedule, target=None)
    return Candidate(candidate_key(plan.program, schedule, setting), print_schedule(schedule), values)
