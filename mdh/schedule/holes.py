"""The open holes of a schedule, in text order."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from mdh.schedule.attribute_values import matched
from mdh.schedule.attributes import ATTRIBUTES, Parameter
from mdh.schedule.model import Arg, ArgCall, Attr, BufferPlace, Hole, Mem, Schedule, Section, Step


class HolePlace(StrEnum):
    """The kind of entry that a hole stands for."""

    TILE = "tile size"
    MEMORY = "memory entry"
    REGION = "memory region"
    LAYOUT = "layout"
    LAYOUT_ENTRY = "layout entry"
    CORE = "core entry"
    ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class OpenHole:
    """An open hole, with its place, section and step (0-based, in text order).

    dim: the dimension of a tile or core. buffer: the buffer of a memory entry. attribute, parameter: those of
    an argument.
    """

    hole: Hole
    place: HolePlace
    section: int
    step: int
    dim: int | None = None
    buffer: str | None = None
    attribute: str | None = None
    parameter: Parameter | None = None


def holes(schedule: Schedule) -> tuple[OpenHole, ...]:
    """Every hole that is still open, in text order."""
    return tuple(h for i, section in enumerate(schedule.sections) for h in section_holes(section, i))


def section_holes(section: Section, index: int = 0) -> Iterator[OpenHole]:
    for number, step in enumerate(section.steps):
        yield from _step_holes(step, index, number)


def _step_holes(step: Step, section: int, number: int) -> Iterator[OpenHole]:
    for dim, tile in enumerate(step.tiles):
        if isinstance(tile.value, Hole):
            yield OpenHole(tile.value, HolePlace.TILE, section, number, dim=dim)
        yield from _attr_holes(tile.attrs, section, number)
    for mem in (*step.inputs, *step.outputs):
        yield from _mem_holes(mem, section, number)
    for dim, core in enumerate(step.cores):
        if isinstance(core.value, Hole):
            yield OpenHole(core.value, HolePlace.CORE, section, number, dim=dim)
        yield from _attr_holes(core.attrs, section, number)
    yield from _attr_holes(step.attrs, section, number)


def _mem_holes(mem: Mem, section: int, number: int) -> Iterator[OpenHole]:
    match mem.value:
        case Hole() as hole:
            yield OpenHole(hole, HolePlace.MEMORY, section, number)
        case BufferPlace(buffer, region, layout):
            if isinstance(region, Hole):
                yield OpenHole(region, HolePlace.REGION, section, number, buffer=buffer)
            if isinstance(layout, Hole):
                yield OpenHole(layout, HolePlace.LAYOUT, section, number, buffer=buffer)
            else:
                for dim, entry in enumerate(layout):
                    if isinstance(entry, Hole):
                        yield OpenHole(entry, HolePlace.LAYOUT_ENTRY, section, number, dim=dim, buffer=buffer)
        case _:
            pass
    yield from _attr_holes(mem.attrs, section, number)


def _attr_holes(attrs: tuple[Attr, ...], section: int, number: int) -> Iterator[OpenHole]:
    for attr in attrs:
        if attr.name not in ATTRIBUTES:
            continue
        for arg, parameter in matched(attr):
            for hole in _arg_holes(arg):
                yield OpenHole(
                    hole, HolePlace.ARGUMENT, section, number, attribute=attr.name, parameter=parameter
                )


def _arg_holes(arg: Arg) -> Iterator[Hole]:
    alternative: Arg | None = arg
    while alternative is not None:
        match alternative.value:
            case Hole() as hole:
                yield hole
            case ArgCall(_, args):
                for inner in args:
                    yield from _arg_holes(inner)
            case _:
                pass
        alternative = alternative.fallback
