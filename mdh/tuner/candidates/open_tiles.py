"""Makes a search space from a schedule without holes: it keeps what is split and leaves tile sizes open."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.hardware import Layer
from mdh.ir.atoms import WGMMA
from mdh.schedule.model import Hole, Schedule, Section, Step, TileEntry, Unit

TIED = (Layer.CLU, Layer.WGP)
"""Layers whose tiles stay in schedules of warp groups' atoms: they are tied to those of blocks and atoms."""


def opened(schedule: Schedule) -> Schedule:
    """The schedule with a hole for every tile that is a number other than 1. A tile of 1 means one element a
    unit, so it stays. With atoms of warp groups, tiles that follow from others stay, too."""
    return replace(schedule, sections=tuple(_section(s) for s in schedule.sections))


def open_values(schedule: Schedule) -> tuple[int, ...]:
    """The tiles that `opened` removes, in the order of the holes: the schedule's point in its space."""
    opening = ((tile, o) for s in schedule.sections for step in s.steps for tile, o in _tiles(s, step))
    return tuple(tile.value for tile, o in opening if o and isinstance(tile.value, int))


def _section(section: Section) -> Section:
    def step_of(step: Step) -> Step:
        tiles = (replace(tile, value=Hole()) if o else tile for tile, o in _tiles(section, step))
        return replace(step, tiles=tuple(tiles))

    return replace(section, steps=tuple(map(step_of, section.steps)))


def _tiles(section: Section, step: Step) -> Iterator[tuple[TileEntry, bool]]:
    """The tiles of a step, and whether each is left open."""
    said = [a.args[0].value for a in section.steps[-1].attrs if a.name == "atom" and a.args]
    grouped = WGMMA in said
    paired = any(u.layer is Layer.CLU for s in section.steps for u in _units(s))
    tied = (*TIED, Layer.BLK) if paired else TIED
    kept = grouped and any(u.layer in tied for u in _units(step))
    shared = {d for s in section.steps for d, c in enumerate(s.cores) if _layer(c.value) is Layer.WGP}
    for d, (tile, core) in enumerate(zip(step.tiles, step.cores, strict=True)):
        unit = core.value
        other = isinstance(unit, Unit) and unit.layer is Layer.MMA and unit.axis != "n"
        other = grouped and (other or d in shared)
        yield tile, isinstance(tile.value, int) and tile.value > 1 and not kept and not other


def _layer(value: object) -> Layer | None:
    return value.layer if isinstance(value, Unit) and isinstance(value.layer, Layer) else None


def _units(step: Step) -> list[Unit]:
    return [c.value for c in step.cores if isinstance(c.value, Unit)]
