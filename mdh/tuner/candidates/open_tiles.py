"""Makes a search space from a schedule without holes: it keeps what is split and leaves tile sizes open."""

from dataclasses import replace

from mdh.schedule.model import Hole, Schedule, Section, Step, TileEntry


def opened(schedule: Schedule) -> Schedule:
    """The schedule with a hole for every tile that is a number other than 1. A tile of 1 means one element a
    unit, so it stays."""
    return replace(schedule, sections=tuple(_section(s) for s in schedule.sections))


def open_values(schedule: Schedule) -> tuple[int, ...]:
    """The tiles that `opened` removes, in the order of the holes: the schedule's point in its space."""
    return tuple(
        tile.value
        for section in schedule.sections
        for step in section.steps
        for tile in step.tiles
        if isinstance(tile.value, int) and tile.value > 1
    )


def _section(section: Section) -> Section:
    return replace(section, steps=tuple(_step(s) for s in section.steps))


def _step(step: Step) -> Step:
    return replace(step, tiles=tuple(_tile(t) for t in step.tiles))


def _tile(tile: TileEntry) -> TileEntry:
    return replace(tile, value=Hole()) if isinstance(tile.value, int) and tile.value > 1 else tile
