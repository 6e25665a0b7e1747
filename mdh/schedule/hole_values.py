"""The values that the set of a hole may hold in each place (S115), and how a value is read as an entry.

A hole's values are numbers and canonical words: `SM`, `BLK.x`, `FOR.1`, `A:SM[2,1]`, `^`.
"""

import re
from collections.abc import Callable

from mdh.diagnostics import fail
from mdh.hardware import Space
from mdh.schedule.cursor import Cursor
from mdh.schedule.hole_reader import read_hole
from mdh.schedule.holes import HolePlace
from mdh.schedule.model import (
    LIBRARIES,
    Beside,
    BufferPlace,
    Caret,
    ForEntry,
    Hole,
    How,
    Library,
    Unit,
    Within,
)
from mdh.schedule.names import axes_of, layer_of, region_of
from mdh.schedule.printer import STEPS, print_how, print_value

_PLACE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)\[([0-9]+(?:,[0-9]+)*)\]", re.ASCII)
_WITHIN = re.compile(r"in ([A-Za-z_]\w*) ?: ?([0-9]{1,6})", re.ASCII)
_BESIDE = re.compile(r"beside ([A-Za-z_]\w*)", re.ASCII)
_LIBRARY = re.compile(r"library ?\( ?(\w+) ?\)", re.ASCII)
_NUMBERS = re.compile(r"\[?([0-9]{1,6}(?:,[0-9]{1,6})*)\]?", re.ASCII)

Value = int | str


def tile_entry(value: Value) -> int | Caret | None:
    """The value as a tile; None if it cannot be one."""
    match value:
        case "^":
            return Caret()
        case int() if value >= 1:
            return value
        case _:
            return None


def region_entry(value: Value) -> Space | None:
    return region_of(value) if isinstance(value, str) else None


def layout_entry(value: Value) -> int | None:
    return value if isinstance(value, int) and value >= 1 else None


def whole_layout_entry(value: Value) -> tuple[int, ...] | None:
    """The layout that `[2,1]` or `2,1` states; for one dimension, `1`. None if it cannot be one."""
    found = _NUMBERS.fullmatch(str(value))
    if found is None:
        return None
    dims = tuple(int(n) for n in found.group(1).split(","))
    return dims if sorted(dims) == list(range(1, len(dims) + 1)) else None


def memory_entry(value: Value) -> BufferPlace | Caret | None:
    if value == "^":
        return Caret()
    found = _PLACE.fullmatch(str(value).replace(" ", ""))
    region = region_of(found.group(2)) if found else None
    layout = whole_layout_entry(found.group(3)) if found else None
    if found is None or region is None or layout is None:
        return None
    return BufferPlace(found.group(1), region, layout)


def core_entry(value: Value) -> Unit | ForEntry | Caret | None:
    if value == "^":
        return Caret()
    head, dot, tail = str(value).partition(".")
    if not dot:
        return None
    if head == "FOR":
        return ForEntry(int(tail)) if tail.isdecimal() and len(tail) < 6 and int(tail) >= 1 else None
    layer = layer_of(head)
    return Unit(layer, tail) if layer is not None and tail in axes_of(layer) else None


def stage_entry(value: Value) -> How | Within | Beside | Library | None:
    word = " ".join(str(value).split())
    found = _WITHIN.fullmatch(word)
    if found is not None:
        return Within(found.group(1), int(found.group(2)))
    if (shared := _BESIDE.fullmatch(word)) is not None:
        return Beside(shared.group(1))
    called = _LIBRARY.fullmatch(word)
    if called is not None:
        return Library(called.group(1)) if called.group(1) in LIBRARIES else None
    return How.KERNEL if word == STEPS else next((how for how in How if how == word), None)


Entry = int | Caret | str | tuple[int, ...] | BufferPlace | Unit | ForEntry | Within | Beside | Library


def word_of(entry: Entry) -> Value:
    """The canonical word of an entry: the inverse of the functions above."""
    if isinstance(entry, How | Within | Beside | Library):
        return print_how(entry)
    return entry if isinstance(entry, int | str) else print_value(entry)


ENTRIES: dict[HolePlace, Callable[[Value], Entry | None]] = {
    HolePlace.TILE: tile_entry,
    HolePlace.MEMORY: memory_entry,
    HolePlace.REGION: region_entry,
    HolePlace.LAYOUT: whole_layout_entry,
    HolePlace.LAYOUT_ENTRY: layout_entry,
    HolePlace.CORE: core_entry,
    HolePlace.STAGE: stage_entry,
}
"""What reads a value as the entry of a place."""
_WANTED = {
    HolePlace.TILE: "a tile size: a number from 1 or `^`",
    HolePlace.MEMORY: "a memory entry: `^` or `BUFFER:REGION[layout]`",
    HolePlace.REGION: "a memory region",
    HolePlace.LAYOUT_ENTRY: "a dimension of the buffer: a number from 1",
    HolePlace.CORE: "a core entry: `LAYER.axis`, `FOR.n` or `^`",
    HolePlace.STAGE: "`inline`, `kernel`, `in STAGE:step` or `beside STAGE`; behind `=`: `steps` or "
    "`library(NAME)`",
}


def read_hole_in(cursor: Cursor, place: HolePlace) -> Hole:
    """A hole with canonical words; reports S115 for members that cannot stand in this place."""
    hole = read_hole(cursor)
    if hole.values is None:
        return hole
    values: list[Value] = []
    for value in hole.values:
        found = ENTRIES[place](value)
        if found is None:
            headline = f"`{str(value)[:60]}` cannot be a value of this hole"
            cursor.report(fail("S115", headline, hole.span, label=f"expected {_WANTED[place]}"))
        else:
            values.append(word_of(found))
    return Hole(hole.name, tuple(dict.fromkeys(values)) or None, hole.span)
