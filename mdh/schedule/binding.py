"""Gives named holes their values: `--set bm=64`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mdh.diagnostics import Diagnostic, Failed, fail, labels_at
from mdh.hardware import Space
from mdh.schedule.attribute_values import fits, legal_values
from mdh.schedule.attributes import Parameter
from mdh.schedule.hole_values import ENTRIES, Value, word_of
from mdh.schedule.holes import HolePlace, OpenHole, filled, holes
from mdh.schedule.model import Arg, ArgCall, Hole, How, NameRef, Schedule, Section, Where
from mdh.schedule.names import listed, nearest
from mdh.schedule.printer import STEPS
from mdh.schedule.where import evaluate, names_of, replace_names


def bind(
    schedule: Schedule, values: Mapping[str, Value], constants: Mapping[str, int] | None = None
) -> Schedule:
    """The schedule with the holes that `values` names filled in, wherever they stand.

    Conditions whose names are all known are evaluated and dropped. `constants` are the program's; with None
    (no program yet), conditions that name constants stay. Raises Failed. S120: no hole has the name. S121:
    its place or set does not allow the value. S122: a condition is false. S123: a condition cannot be
    evaluated. Each case of a table is bound by itself.
    """
    if schedule.cases:
        return _bind_cases(schedule, values, constants)
    places = holes(schedule)
    names = {h.hole.name for h in places if h.hole.name}
    problems = _value_problems(places, values)
    if problems:
        raise Failed(*problems)
    sections, loops = (
        tuple(_bind_section(s, values, constants, names, problems) for s in some)
        for some in (schedule.sections, schedule.loops)
    )
    if problems:
        raise Failed(*problems)
    return replace(schedule, sections=sections, loops=loops)


def _bind_cases(
    table: Schedule, values: Mapping[str, Value], constants: Mapping[str, int] | None
) -> Schedule:
    """The table with the holes of its cases filled in. A case need not have all holes that `values` names."""
    alone = [replace(table, sections=case.sections, cases=()) for case in table.cases]
    named = [{h.hole.name for h in holes(one)} for one in alone]
    unknown = {name: value for name, value in values.items() if not any(name in names for names in named)}
    bound = [
        bind(one, {**unknown, **{n: v for n, v in values.items() if n in names}}, constants)
        for one, names in zip(alone, named, strict=True)
    ]
    cases = (replace(c, sections=b.sections) for c, b in zip(table.cases, bound, strict=True))
    return replace(table, cases=tuple(cases))


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

    def fill(place: OpenHole) -> Any:
        value = _value_of(place.hole, values)
        if value is None:
            return place.hole
        return _argument(value) if place.place is HolePlace.ARGUMENT else ENTRIES[place.place](value)

    return replace(filled(section, fill), wheres=tuple(wheres))


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


def _argument(value: Value) -> int | str | ArgCall:
    """`grouped(8)` as a call; any other value unchanged."""
    head, bracket, rest = str(value).partition("(")
    return ArgCall(head, (Arg(int(rest[:-1])),)) if bracket else value


def _value_of(hole: Hole, values: Mapping[str, Value]) -> Value | None:
    """The value of a hole's name; None if it has none."""
    return None if hole.name is None else values.get(hole.name)


def _value_problems(places: Sequence[OpenHole], values: Mapping[str, Value]) -> list[Diagnostic]:
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
    shown, name = str(value)[:60], place.hole.name
    word = _canonical(place, value)
    if word is None:
        headline = f"`{shown}` is no {place.place}"
    elif allowed is not None and word not in allowed:
        headline = f"`?{name}` does not take the value {shown}"
    else:
        return []
    labels = labels_at(place.hole.span, f"{name} = {shown}")
    return [Diagnostic("S121", headline, labels, help=f"it takes {_taken(place)}")]


def _taken(place: OpenHole) -> str:
    """The values that a hole takes: its own set, else those of its place."""
    if place.hole.values is not None:
        return listed(str(v) for v in place.hole.values)
    return _ENTRY_WORDS[place.place] if place.parameter is None else legal_values(place.parameter)


def _canonical(place: OpenHole, value: Value) -> Value | None:
    """The value as a canonical word; None if it cannot stand in the hole's place."""
    if place.place is HolePlace.ARGUMENT:
        return value if place.parameter is not None and _argument_fits(place.parameter, value) else None
    entry = ENTRIES[place.place](value)
    if entry is How.KERNEL and STEPS in (place.hole.values or ()):
        return STEPS
    return None if entry is None else word_of(entry)


def _argument_fits(parameter: Parameter, value: Value) -> bool:
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
    HolePlace.STAGE: "`inline`, `kernel`, `in STAGE:step`, `beside STAGE` or `library(NAME)`",
}
