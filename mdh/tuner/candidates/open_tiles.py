"""Makes a search space from a schedule without holes: it keeps what is split and leaves tile sizes open."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import with_inline
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.schedule.model import Hole, Schedule, Section, Step
from mdh.tuner.candidates.tied_tiles import TiedTiles, tied_tiles


def opened(schedule: Schedule, program: Program, machine: Machine) -> Schedule:
    """The schedule with a hole for every tile that is a number other than 1. A tile of 1 means one element a
    unit, so it stays. With atoms of tensor cores the holes are tied by conditions, and the number of slots is
    a hole too."""
    return replace(
        schedule,
        sections=tuple(
            _section(section) if tied is None else tied.opened
            for section, tied in _tied(schedule, program, machine)
        ),
    )


def open_values(schedule: Schedule, program: Program, machine: Machine) -> tuple[int, ...]:
    """What `opened` removes, in the order of the holes: the schedule's point in its space."""
    found = ((_values(section), tied) for section, tied in _tied(schedule, program, machine))
    return tuple(value for values, tied in found for value in (values if tied is None else tied.values))


def _tied(
    schedule: Schedule, program: Program, machine: Machine
) -> Iterator[tuple[Section, TiedTiles | None]]:
    """The sections; those with atoms as tiles that are tied."""
    several = len(program.stages) > 1
    computed = with_inline(program, {s.name: s for s in schedule.sections if s.name is not None}).program
    for section in schedule.sections:
        if section.derived:
            yield section, None
            continue
        whole = stage_in(computed, section.name)
        view = view_of(computed, whole, section)
        prefix = f"{whole.name}_" if several else ""
        yield section, tied_tiles(view, stage_in(view, whole.name), section, machine, prefix)


def _section(section: Section) -> Section:
    return replace(section, steps=tuple(map(_step, section.steps)))


def _step(step: Step) -> Step:
    tiles = (replace(t, value=Hole()) if isinstance(t.value, int) and t.value > 1 else t for t in step.tiles)
    return replace(step, tiles=tuple(tiles))


def _values(section: Section) -> Iterator[int]:
    every = (tile.value for step in section.steps for tile in step.tiles)
    return (value for value in every if isinstance(value, int) and value > 1)
