"""The open holes of a schedule, in text order, and the schedule with other entries in their places."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from mdh.schedule.attribute_values import matched
from mdh.schedule.attributes import ATTRIBUTES, Parameter
from mdh.schedule.model import (
    Arg,
    ArgCall,
    Attr,
    BufferPlace,
    Caret,
    Core,
    Hole,
    Mem,
    Schedule,
    Section,
    Step,
    TileEntry,
)

_Entry = TypeVar("_Entry", TileEntry, Core)


class HolePlace(StrEnum):
    """The kind of entry that a hole stands for."""

    TILE = "tile size"
    MEMORY = "memory entry"
    REGION = "memory region"
    LAYOUT = "layout"
    LAYOUT_ENTRY = "layout entry"
    CORE = "core entry"
    ARGUMENT = "argument"
    STAGE = "way to compute a stage"


@dataclass(frozen=True, slots=True)
class OpenHole:
    """An open hole, with its place, section and step (0-based, in text order; -1 for one of the stage).
    Sections of loops are counted behind those of stages.

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
    every = enumerate((*schedule.sections, *schedule.loops))
    return tuple(h for i, section in every for h in section_holes(section, i))


def section_holes(section: Section, index: int = 0) -> tuple[OpenHole, ...]:
    found: list[OpenHole] = []

    def note(place: OpenHole) -> Hole:
        found.append(place)
        return place.hole

    filled(section, note, index)
    return tuple(found)


def filled(section: Section, fill: Callable[[OpenHole], Any], index: int = 0) -> Section:
    """The section with what `fill` gives in place of each hole, in text order. A hole that it returns stays
    open."""
    how = section.how
    if isinstance(how, Hole):
        how = fill(OpenHole(how, HolePlace.STAGE, index, -1))
    steps = (_Filling(fill, index, n).step(step) for n, step in enumerate(section.steps))
    chosen = section.chosen or how is not section.how
    return replace(section, how=how, steps=tuple(steps), chosen=chosen)


@dataclass(frozen=True, slots=True)
class _Filling:
    """Fills the holes of one step."""

    fill: Callable[[OpenHole], Any]
    section: int
    number: int

    def step(self, step: Step) -> Step:
        return replace(
            step,
            tiles=tuple(self.entry(t, HolePlace.TILE, dim) for dim, t in enumerate(step.tiles)),
            inputs=tuple(map(self.memory, step.inputs)),
            outputs=tuple(map(self.memory, step.outputs)),
            cores=tuple(self.entry(c, HolePlace.CORE, dim) for dim, c in enumerate(step.cores)),
            attrs=self.attributes(step.attrs),
        )

    def value(self, value: Any, place: HolePlace, **about: Any) -> Any:
        if not isinstance(value, Hole):
            return value
        return self.fill(OpenHole(value, place, self.section, self.number, **about))

    def entry(self, entry: _Entry, place: HolePlace, dim: int) -> _Entry:
        if not isinstance(entry.value, Hole) and not entry.attrs:
            return entry
        value = self.value(entry.value, place, dim=dim)
        return replace(entry, value=value, attrs=self.attributes(entry.attrs))

    def memory(self, mem: Mem) -> Mem:
        if isinstance(mem.value, Caret) and not mem.attrs:
            return mem
        value = self.value(mem.value, HolePlace.MEMORY)
        if isinstance(value, BufferPlace):
            buffer = value.buffer
            region = self.value(value.region, HolePlace.REGION, buffer=buffer)
            layout = self.value(value.layout, HolePlace.LAYOUT, buffer=buffer)
            if not isinstance(layout, Hole):
                entries = enumerate(layout)
                at = HolePlace.LAYOUT_ENTRY
                layout = tuple(self.value(e, at, dim=dim, buffer=buffer) for dim, e in entries)
            value = BufferPlace(buffer, region, layout)
        return Mem(value, self.attributes(mem.attrs), mem.span)

    def attributes(self, attrs: tuple[Attr, ...]) -> tuple[Attr, ...]:
        return tuple(self.attribute(a) if a.name in ATTRIBUTES else a for a in attrs)

    def attribute(self, attr: Attr) -> Attr:
        parameters = {id(arg): parameter for arg, parameter in matched(attr)}
        args = (self.argument(a, attr.name, parameters.get(id(a))) for a in attr.args)
        return Attr(attr.name, tuple(args), attr.span)

    def argument(self, arg: Arg, attribute: str, parameter: Parameter | None) -> Arg:
        if parameter is None:
            return arg
        value = self.value(arg.value, HolePlace.ARGUMENT, attribute=attribute, parameter=parameter)
        if isinstance(value, ArgCall):
            value = ArgCall(value.name, tuple(self.argument(a, attribute, parameter) for a in value.args))
        fallback = None if arg.fallback is None else self.argument(arg.fallback, attribute, parameter)
        return Arg(value, arg.name, fallback, arg.span)
