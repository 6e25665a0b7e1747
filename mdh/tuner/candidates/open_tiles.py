"""A schedule without holes as the start of a search: what it splits stays, how large parts are is open."""

from dataclasses import replace

from mdh.schedule.model import Hole, Schedule, Section, Step, Tile


def opened(schedule: Schedule) -> Schedule:
    """Every tile that is a number becomes a hole, save ones: those say that an element is one unit's."""
    return replace(schedule, sections=tuple(_section(s) for s in schedule.sections))


def open_values(schedule: Schedule) -> tuple[int, ...]:
    """What `opened` takes out, in the order of the holes: the point that the schedule is."""
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


def _tile(tile: Tile) -> Tile:
    return replace(tile, value=Hole()) if isinstance(tile.value, int) and tile.value > 1 else tile
