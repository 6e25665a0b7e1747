"""Makes a search space from a schedule without holes: it keeps what is split and leaves tile sizes open."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import with_inline
from mdh.decompose.accesses import access_groups
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.schedule.model import Hole, Schedule, Section, Step, TileEntry, Within
from mdh.tuner.candidates.tied_tiles import TiedTiles, tied_tiles


def opened(schedule: Schedule, program: Program, machine: Machine) -> Schedule:
    """The schedule with a hole for every tile that is a number other than 1. A tile of 1 means one element a
    unit, so it stays; so do the tiles of a stage inside of another one, if its box depends on a hole there.
    With atoms of tensor cores the holes are tied by conditions, and the number of slots is a hole too."""
    tied = _tied(schedule, program, machine)
    sections = tuple(
        tied[n].opened if n in tied else _section(section) if n in _open(schedule, program) else section
        for n, section in enumerate(schedule.sections)
    )
    return replace(schedule, sections=sections)


def open_values(schedule: Schedule, program: Program, machine: Machine) -> tuple[int, ...]:
    """What `opened` removes, in the order of the holes: the schedule's point in its space."""
    tied, sections = _tied(schedule, program, machine), schedule.sections
    found = (tied[n].values if n in tied else _values(sections[n]) for n in _open(schedule, program))
    return tuple(value for values in found for value in values)


def _tied(schedule: Schedule, program: Program, machine: Machine) -> Mapping[int, TiedTiles]:
    """Of the sections with atoms, by number, their tiles that are tied."""
    several, out = len(program.stages) > 1, dict[int, TiedTiles]()
    computed = _computed(schedule, program)
    for n in _open(schedule, program):
        section = schedule.sections[n]
        whole = stage_in(computed, section.name)
        view = view_of(computed, whole, section)
        prefix = f"{whole.name}_" if several else ""
        found = tied_tiles(view, stage_in(view, whole.name), section, machine, prefix)
        if found is not None:
            out[n] = found
    return out


def _computed(schedule: Schedule, program: Program) -> Program:
    return with_inline(program, {s.name: s for s in schedule.sections if s.name is not None}).program


def _open(schedule: Schedule, program: Program) -> tuple[int, ...]:
    """The numbers of the sections whose tiles become holes."""
    named = {s.name: s for s in schedule.sections if s.name is not None}
    computed = _computed(schedule, program)
    sections = enumerate(schedule.sections)
    return tuple(n for n, s in sections if not s.derived and not _in_open_box(s, named, computed))


def _in_open_box(section: Section, named: Mapping[str, Section], computed: Program) -> bool:
    """Whether the box of a stage inside of another one depends on tiles there that become holes."""
    how = section.how
    if not isinstance(how, Within):
        return False
    reader, written = named[how.reader], stage_in(computed, section.name).written
    groups = access_groups(computed, stage_in(computed, how.reader))
    moving = {d for g in groups if g.buffer in written for d in g.dims}
    holes = {d for step in reader.steps for d, t in enumerate(step.tiles) if _large(t)}
    return bool(moving & holes) or _in_open_box(reader, named, computed)


def _section(section: Section) -> Section:
    return replace(section, steps=tuple(map(_step, section.steps)))


def _step(step: Step) -> Step:
    tiles = (replace(t, value=Hole()) if _large(t) else t for t in step.tiles)
    return replace(step, tiles=tuple(tiles))


def _values(section: Section) -> Iterator[int]:
    every = (tile.value for step in section.steps for tile in step.tiles)
    return (value for value in every if isinstance(value, int) and value > 1)


def _large(tile: TileEntry) -> bool:
    return isinstance(tile.value, int) and tile.value > 1
