"""Gives named holes their values: `--set bm=64`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from mdh.diagnostics import Diagnostic, Failed, fail, labels_at
from mdh.hardware import Space
from mdh.schedule.attribute_values import fits, legal_values
from mdh.schedule.hole_values import (
    ENTRIES,
    Value,
    core_entry,
    layout_entry,
    memory_entry,
    region_entry,
    tile_entry,
    whole_layout_entry,
    word_of,
)
from mdh.schedule.holes import HolePlace, OpenHole, holes
from mdh.schedule.model import (
    Arg,
    ArgCall,
    Attr,
    BufferPlace,
    Core,
    Hole,
    Mem,
    NameRef,
    Schedule,
    Section,
    Step,
    TileEntry,
    Where,
)
from mdh.schedule.names import listed, nearest
from mdh.schedule.where import evaluate, names_of, replace_names

_Entry = TypeVar("_Entry")


def bind(
    schedule: Schedule, values: Mapping[str, Value], constants: Mapping[str, int] | None = None
) -> Schedule:
    """The schedule with the holes that `values` names filled in, wherever they stand.

    Conditions whose names are all known are evaluated and dropped. `constants` are the program's; with None
    (no program yet), conditions that name constants stay. Raises Failed. S120: no hole has the name. S121:
    its place or set does not allow the value. S122: a condition is false. S123: a condition cannot be
    evaluated.
    """
    problems = _value_problems(schedule, values)
    if problems:
        raise Failed(*problems)
    names = {h.hole.name for h in holes(schedule) if h.hole.name}
    sections = tuple(_bind_section(s, values, constants, names, problems) for s in schedule.sections)
    if problems:
        raise Failed(*problems)
    return replace(schedule, sections=sections)


def _bind_section(
    section: Section,
    values: Mapping[str, Value],
    constants: Mapping[str, int] | None,
    names: set[str],
    problems: list[Diagnostic],
) -> Section:
    numbers = {n: v for n, v in values.items() if isinstance(v, int)}
    wheres: list[Where] = []
    for where in section.wheres:
        try:
            kept = _settle(where, numbers, constants, names)
        except Failed as failed:
            problems.extend(failed.diagnostics)
        else:
            wheres.extend([kept] if kept is not None else [])
    steps = tuple(_bind_step(step, values) for step in section.steps)
    return replace(section, steps=steps, wheres=tuple(wheres))


def _settle(
    where: Where, numbers: Mapping[str, int], constants: Mapping[str, int] | None, names: set[str]
) -> Where | None:
    """The condition with the known names filled in; None if it is known to hold."""
    unknown: list[NameRef] = []
    for name in names_of(where.condition):
        if name.hole and name.text not in names:
            raise fail(
                "S123",
                f"no step has the hole `?{name.text[:60]}`",
                name.span,
                help=nearest(name.text, names) or _operands(names, constants),
            )
        if name.hole and name.text in numbers:
            continue
        if not name.hole and constants is not None and name.text not in constants:
            raise fail(
                "S123",
                f"`{name.text[:60]}` is no constant of the program",
                name.span,
                help=_hint(name, names, constants),
            )
        if name.hole or constants is None:
            unknown.append(name)
    if unknown:
        return replace(where, condition=replace_names(where.condition, numbers))
    if evaluate(where.condition, {**(constants or {}), **numbers}):
        return None
    known = {n.text: {**(constants or {}), **numbers}[n.text] for n in names_of(where.condition)}
    shown = ", ".join(f"{name} = {value}" for name, value in known.items())
    raise fail("S122", "a `where` condition does not hold", where.span, label=shown or "never holds")


def _hint(name: NameRef, names: set[str], constants: Mapping[str, int]) -> str:
    if name.text in names:
        return f"write `?{name.text}` for the hole"
    return nearest(name.text, constants) or _operands(names, constants)


def _operands(names: set[str], constants: Mapping[str, int] | None) -> str:
    """The names that a condition may use, in words."""
    named = ", ".join(f"`?{n}`" for n in sorted(names))
    holes_text = f"named holes: {named}" if names else "no hole has a name"
    if constants is None:
        return f"{holes_text}; constants of the program are written without `?`"
    listing = ", ".join(f"`{n}`" for n in sorted(constants))
    known = f"constants of the program: {listing}" if constants else "the program has none"
    return f"{known}; {holes_text}" if names else known


def _bind_step(step: Step, values: Mapping[str, Value]) -> Step:
    return replace(
        step,
        tiles=tuple(_bind_tile(t, values) for t in step.tiles),
        inputs=tuple(_bind_mem(m, values) for m in step.inputs),
        outputs=tuple(_bind_mem(m, values) for m in step.outputs),
        cores=tuple(_bind_core(c, values) for c in step.cores),
        attrs=_bind_attrs(step.attrs, values),
    )


def _bind_tile(tile: TileEntry, values: Mapping[str, Value]) -> TileEntry:
    return replace(tile, value=_bound(tile.value, tile_entry, values), attrs=_bind_attrs(tile.attrs, values))


def _bind_core(core: Core, values: Mapping[str, Value]) -> Core:
    return replace(core, value=_bound(core.value, core_entry, values), attrs=_bind_attrs(core.attrs, values))


def _bind_mem(mem: Mem, values: Mapping[str, Value]) -> Mem:
    value = _bound(mem.value, memory_entry, values)
    if isinstance(value, BufferPlace):
        value = _bind_place(value, values)
    return replace(mem, value=value, attrs=_bind_attrs(mem.attrs, values))


def _bind_place(place: BufferPlace, values: Mapping[str, Value]) -> BufferPlace:
    layout = _bound(place.layout, whole_layout_entry, values)
    if not isinstance(layout, Hole):
        layout = tuple(_bound(entry, layout_entry, values) for entry in layout)
    return BufferPlace(place.buffer, _bound(place.region, region_entry, values), layout)


def _bound(entry: _Entry, read: Callable[[Value], _Entry | None], values: Mapping[str, Value]) -> _Entry:
    """The entry, or what its value reads as where it is a hole that gets one."""
    word = _value_of(entry, values)
    found = None if word is None else read(word)
    return entry if found is None else found


def _bind_attrs(attrs: tuple[Attr, ...], values: Mapping[str, Value]) -> tuple[Attr, ...]:
    return tuple(replace(a, args=tuple(_bind_arg(arg, values) for arg in a.args)) for a in attrs)


def _bind_arg(arg: Arg, values: Mapping[str, Value]) -> Arg:
    fallback = None if arg.fallback is None else _bind_arg(arg.fallback, values)
    value = arg.value
    if isinstance(value, ArgCall):
        value = ArgCall(value.name, tuple(_bind_arg(a, values) for a in value.args))
    else:
        word = _value_of(value, values)
        value = value if word is None else _argument(word)
    return replace(arg, value=value, fallback=fallback)


def _argument(value: Value) -> int | str | ArgCall:
    """`grouped(8)` as a call; any other value unchanged."""
    head, bracket, rest = str(value).partition("(")
    return ArgCall(head, (Arg(int(rest[:-1])),)) if bracket else value


def _value_of(value: object, values: Mapping[str, Value]) -> Value | None:
    """The value of a hole's name; None if the entry is no hole or has no value."""
    return values.get(value.name) if isinstance(value, Hole) and value.name is not None else None


def _value_problems(schedule: Schedule, values: Mapping[str, Value]) -> list[Diagnostic]:
    places = holes(schedule)
    names = list(dict.fromkeys(h.hole.name for h in places if h.hole.name))
    problems: list[Diagnostic] = []
    for name in values:
        if name not in names:
            known = f"named holes are {listed(f'?{n}' for n in names)}" if names else "it has no named holes"
            problems.append(
                Diagnostic(
                    "S120",
                    f"the schedule has no hole `?{name[:60]}`",
                    help=nearest(name, names) or known,
                )
            )
    for place in places:
        value = _value_of(place.hole, values)
        if value is not None:
            problems.extend(_misfit(place, value))
    return problems


def _misfit(place: OpenHole, value: Value) -> list[Diagnostic]:
    allowed = place.hole.values
    label = f"{place.hole.name} = {str(value)[:60]}"
    word = _canonical(place, value)
    if word is None:
        return [
            Diagnostic(
                "S121",
                f"`{str(value)[:60]}` is no {place.place}",
                labels_at(place.hole.span, label),
                help=f"it takes {_taken(place)}",
            )
        ]
    if allowed is not None and word not in allowed:
        return [
            Diagnostic(
                "S121",
                f"`?{place.hole.name}` does not take the value {str(value)[:60]}",
                labels_at(place.hole.span, label),
                help=f"it takes {listed(str(v) for v in allowed)}",
            )
        ]
    return []


def _taken(place: OpenHole) -> str:
    """The values that a hole takes: its own set, else those of its place."""
    if place.hole.values is not None:
        return listed(str(v) for v in place.hole.values)
    return _ENTRY_WORDS[place.place] if place.parameter is None else legal_values(place.parameter)


def _canonical(place: OpenHole, value: Value) -> Value | None:
    """The value as a canonical word; None if it cannot stand in the hole's place."""
    match place.place:
        case HolePlace.ARGUMENT:
            return value if place.parameter is not None and _argument_fits(place, value) else None
        case _:
            entry = ENTRIES[place.place](value)
            return None if entry is None else word_of(entry)


def _argument_fits(place: OpenHole, value: Value) -> bool:
    parameter = place.parameter
    if parameter is None:
        return False
    if parameter.calls and isinstance(value, int):
        return parameter.call_numbers[0] <= value <= parameter.call_numbers[1]
    return fits(value, parameter)


_ENTRY_WORDS = {
    HolePlace.TILE: "a number from 1, or `^`",
    HolePlace.MEMORY: "`^` or `BUFFER:REGION[layout]`",
    HolePlace.REGION: listed(Space),
    HolePlace.LAYOUT: "the numbers of the dimensions in some order: `2,1`",
    HolePlace.LAYOUT_ENTRY: "the number of a dimension, from 1",
    HolePlace.CORE: "`LAYER.axis`, `FOR.n` or `^`",
}
