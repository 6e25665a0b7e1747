"""Lets a search choose between the kernel of a stage and a library."""

from dataclasses import replace

from mdh.checker.inlining import with_inline
from mdh.checker.library import choices, hosts_of
from mdh.ir.program import Program
from mdh.schedule.hole_values import word_of
from mdh.schedule.model import Hole, How, Library, Schedule
from mdh.schedule.printer import STEPS


def with_choices(schedule: Schedule, program: Program, target: str, *, deterministic: bool) -> Schedule:
    """The schedule with a hole for the way of each stage that a library may compute. Its steps are those of
    the kernel."""
    sections = {s.name: s for s in schedule.sections if s.name is not None}
    computed = with_inline(program, sections).program
    hosts = hosts_of(schedule.sections)
    for name, found in choices(computed, target, deterministic=deterministic).items():
        section = sections.get(name)
        if section is not None and section.how is How.KERNEL and section.steps and name not in hosts:
            ways = (STEPS, word_of(Library(found.library)))
            sections[name] = replace(section, how=Hole(None, ways))
    return replace(schedule, sections=tuple(sections.get(s.name or "", s) for s in schedule.sections))
