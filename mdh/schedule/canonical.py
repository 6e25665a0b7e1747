"""The canonical form. It drops attributes without effect, so that equal programs have equal text."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.schedule.attributes import ATTRIBUTES
from mdh.schedule.model import Arg, Attr, Core, Hole, Schedule, Section, Step, TileEntry
from mdh.schedule.printer import print_arg


def canonical(schedule: Schedule) -> Schedule:
    """The schedule without neutral attributes (`pad(0)`, `stages(1)`, `grouped(1)`, `cyclic(n)` with n not
    below its tile). Sets lose the members that are larger than the tile above them, where that is known."""
    cases = tuple(replace(c, sections=tuple(map(canonical_section, c.sections))) for c in schedule.cases)
    sections, loops = (tuple(map(canonical_section, x)) for x in (schedule.sections, schedule.loops))
    return replace(schedule, sections=sections, cases=cases, loops=loops)


def canonical_section(section: Section, extents: Sequence[int] = ()) -> Section:
    """One section in canonical form. With the extents of its stage, the tile behind every `^` is known."""
    steps: list[Step] = []
    tiles: tuple[int | None, ...] = tuple(extents)
    for step in section.steps:
        above = tiles or (None,) * len(step.tiles)
        tiles = tuple(_size(t, a) for t, a in zip(step.tiles, above, strict=False))
        steps.append(_step(step, tiles, above))
    return replace(section, steps=tuple(steps))


def _size(tile: TileEntry, above: int | None) -> int | None:
    """The tile as a number; None if a hole leaves it open."""
    match tile.value:
        case int(size):
            return size
        case Hole():
            return None
        case _:
            return above


def _step(step: Step, tiles: tuple[int | None, ...], above: tuple[int | None, ...]) -> Step:
    return replace(
        step,
        tiles=tuple(_tile(t, a) for t, a in zip(step.tiles, above, strict=False)),
        inputs=tuple(replace(m, attrs=_telling(m.attrs)) for m in step.inputs),
        outputs=tuple(replace(m, attrs=_telling(m.attrs)) for m in step.outputs),
        cores=tuple(_core(c, t) for c, t in zip(step.cores, tiles, strict=False)),
        attrs=_telling(step.attrs),
    )


def _tile(tile: TileEntry, above: int | None) -> TileEntry:
    hole = tile.value
    if not isinstance(hole, Hole) or hole.values is None or above is None:
        return tile
    kept = tuple(v for v in hole.values if not isinstance(v, int) or v <= above)
    return replace(tile, value=replace(hole, values=kept)) if kept else tile


def _core(core: Core, tile: int | None) -> Core:
    kept = tuple(a for a in _telling(core.attrs) if not _deals_whole_tiles(a, tile))
    return replace(core, attrs=kept)


def _deals_whole_tiles(attr: Attr, tile: int | None) -> bool:
    if attr.name != "cyclic" or tile is None or not attr.args:
        return False
    value = attr.args[0].value
    return isinstance(value, int) and value >= tile


def _telling(attrs: tuple[Attr, ...]) -> tuple[Attr, ...]:
    return tuple(a for a in attrs if not _neutral(a))


def _neutral(attr: Attr) -> bool:
    if attr.name not in ATTRIBUTES:
        return False
    said = tuple(print_arg(arg) for arg in attr.args)
    return said in {tuple(print_arg(Arg(v)) for v in values) for values in ATTRIBUTES[attr.name].neutral}
