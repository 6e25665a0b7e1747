"""Reads the entries of a step's three groups: tile sizes, memory entries, core entries."""

from collections.abc import Callable
from typing import TypeVar

from mdh.diagnostics import Failed, fail
from mdh.hardware import Layer, Space
from mdh.schedule.attribute_reader import read_attributes
from mdh.schedule.attributes import Site
from mdh.schedule.cursor import Cursor
from mdh.schedule.hole_reader import at_hole
from mdh.schedule.hole_values import read_hole_in
from mdh.schedule.holes import HolePlace
from mdh.schedule.model import BufferPlace, Caret, Core, ForEntry, Hole, Mem, TileEntry, Unit
from mdh.schedule.names import LAYER_ALIASES, REGION_ALIASES, axes_of, layer_of, listed, nearest, region_of
from mdh.schedule.tokens import Token
from mdh.source import Span

_Value = TypeVar("_Value")
TILE = "a tile size: a number, `^`, `?` or a set `{…}`"
MEMORY = "a memory entry: `^`, `?`, a set `{…}` or `BUFFER:REGION[layout]`"
CORE = "a core entry: `LAYER.axis`, `FOR.n`, `^`, `?` or a set `{…}`"


def read_tile(cursor: Cursor) -> TileEntry:
    value, span = _read_value(
        cursor, HolePlace.TILE, lambda c: positive(c, TILE, "a tile has at least one element")
    )
    return TileEntry(value, read_attributes(cursor, Site.TILE), span)


def read_memory(cursor: Cursor, site: Site) -> Mem:
    value, span = _read_value(cursor, HolePlace.MEMORY, _read_place)
    return Mem(value, read_attributes(cursor, site), span)


def read_core(cursor: Cursor) -> Core:
    value, span = _read_value(cursor, HolePlace.CORE, _read_unit)
    return Core(value, read_attributes(cursor, Site.CORE), span)


def _read_value(
    cursor: Cursor, place: HolePlace, other: Callable[[Cursor], _Value]
) -> tuple[_Value | Caret | Hole, Span]:
    """An entry without its attributes. other: reads what is neither `^` nor a hole."""
    first = cursor.token
    value: _Value | Caret | Hole
    if cursor.accept("^"):
        value = Caret()
    elif at_hole(cursor):
        value = read_hole_in(cursor, place)
    else:
        value = other(cursor)
    return value, cursor.since(first)


def positive(cursor: Cursor, wanted: str, why: str) -> int:
    """A number of at least 1. Reports S105 for 0."""
    token = cursor.expect_kind("int", wanted)
    if int(token.text) == 0:
        cursor.report(fail("S105", "0 cannot stand here", cursor.span(token), label=why))
        return 1
    return int(token.text)


def _read_place(cursor: Cursor) -> BufferPlace:
    buffer = cursor.expect_kind("name", MEMORY)
    if cursor.at("."):
        raise cursor.unexpected(
            "`:` and a memory region", "core layers such as `BLK.x` stand in the third group of a step"
        )
    cursor.expect(":", f"`:` and a memory region behind the buffer `{buffer.text[:60]}`")
    region = _read_region(cursor)
    cursor.open("[", "`[` and the layout of the buffer, such as `[1,2]`")
    layout = _read_layout(cursor)
    cursor.close("`,`")
    return BufferPlace(buffer.text, region, layout)


def _read_region(cursor: Cursor) -> Space | Hole:
    if at_hole(cursor):
        return read_hole_in(cursor, HolePlace.REGION)
    token = cursor.expect_kind("name", f"a memory region: {listed(Space)}, `?` or a set `{{…}}`")
    region = region_of(token.text)
    if region is None:
        cursor.report(unknown_region(token.text, cursor.span(token)))
    return region or Space.DM


def unknown_region(word: str, span: Span) -> Failed:
    help_ = nearest(word, [*Space, *REGION_ALIASES]) or f"regions are {listed(Space)}"
    if layer_of(word) is not None:
        help_ = f"`{word}` is a core layer; regions are {listed(Space)}"
    return fail("S108", f"there is no memory region `{word[:60]}`", span, help=help_)


def _read_layout(cursor: Cursor) -> tuple[int | Hole, ...] | Hole:
    entries = cursor.separated(lambda: _read_layout_entry(cursor))
    if len(entries) == 1 and isinstance(entries[0], Hole):
        return entries[0]
    return tuple(entries)


def _read_layout_entry(cursor: Cursor) -> int | Hole:
    if at_hole(cursor):
        return read_hole_in(cursor, HolePlace.LAYOUT_ENTRY)
    return positive(cursor, "a dimension of the buffer: a number from 1 or `?`", "dimensions count from 1")


def _read_unit(cursor: Cursor) -> Unit | ForEntry:
    layer = cursor.expect_kind("name", CORE)
    if cursor.at(":"):
        raise cursor.unexpected(
            "`.` and an axis", "memory entries such as `A:SM[1,2]` stand in the second group of a step"
        )
    cursor.expect(".", f"`.` and an axis behind `{layer.text[:60]}`")
    if layer.text == "FOR":
        return _read_loop(cursor)
    axis = cursor.token
    if axis.kind not in {"name", "int"}:
        raise cursor.unexpected("an axis: `x`, `y` or `z`")
    cursor.take()
    return _unit(cursor, layer, axis)


def _read_loop(cursor: Cursor) -> ForEntry:
    if cursor.token.kind != "name":
        return ForEntry(positive(cursor, "the loop's number behind `FOR.`", "loops count from 1"))
    axis = cursor.take()
    headline, help_ = (
        f"`FOR` has no axis `{axis.text[:60]}`",
        "sequential loops are numbered: `FOR.1`, `FOR.2`, …",
    )
    cursor.report(fail("S107", headline, cursor.span(axis), label="expected the loop's number", help=help_))
    return ForEntry(1)


def _unit(cursor: Cursor, layer: Token, axis: Token) -> Unit:
    canonical = layer_of(layer.text)
    if canonical is None:
        cursor.report(unknown_layer(layer.text, cursor.span(layer)))
        return Unit(Layer.BLK, "x")
    axes = axes_of(canonical)
    if axis.text not in axes:
        headline = f"`{layer.text}` has no axis `{axis.text[:60]}`"
        cursor.report(fail("S107", headline, cursor.span(axis), label=f"expected {listed(axes)}"))
        return Unit(canonical, axes[0])
    return Unit(canonical, axis.text)


def unknown_layer(word: str, span: Span) -> Failed:
    known = [*Layer, "FOR", *LAYER_ALIASES]
    help_ = nearest(word, known) or f"core layers, outer to inner, are {listed(Layer)}; loops are `FOR.n`"
    return fail("S107", f"there is no core layer `{word[:60]}`", span, help=help_)
