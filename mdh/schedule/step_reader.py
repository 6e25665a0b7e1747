"""Reads one step: label, word, three groups, attributes."""

from collections.abc import Callable
from typing import TypeVar

from mdh.diagnostics import fail
from mdh.schedule.attribute_reader import read_attributes
from mdh.schedule.attributes import Site
from mdh.schedule.cursor import Cursor
from mdh.schedule.entry_reader import CORE, MEMORY, TILE, read_core, read_memory, read_tile
from mdh.schedule.model import Mem, Step

_Entry = TypeVar("_Entry")
GROUPS = "a step has three groups: `( tiles ) ( inputs ; outputs ) ( cores )`"


def at_step(cursor: Cursor) -> bool:
    """Whether a step begins here: its word, a label, or something similar to one of them."""
    return cursor.token.kind in {"comp", "int"}


def read_step(cursor: Cursor) -> Step:
    first = cursor.token
    comments = cursor.comments_before(first.start)
    label: int | None = None
    if first.kind == "int":
        cursor.take()
        cursor.expect(":", "`:` behind the label of a step")
        label = int(first.text)
    word = cursor.expect_kind("comp", "`(de-)comp` or `(de/re)-comp`")
    tiles = _read_group(cursor, 1, TILE, read_tile)
    inputs, outputs = _read_memories(cursor)
    cores = _read_group(cursor, 3, CORE, read_core)
    if cursor.at("("):
        raise fail("S112", "the step has more than three groups", cursor.span(cursor.token), help=GROUPS)
    attrs = read_attributes(cursor, Site.STEP)
    span = cursor.since(first)
    inner = cursor.comments_before(cursor.previous.end)
    if len(tiles) != len(cores):
        headline = f"the step names {len(tiles)} tile sizes but {len(cores)} core entries"
        counts = f"{len(tiles)} tiles, {len(cores)} cores"
        help_ = "both groups have one entry per dimension"
        cursor.report(fail("S113", headline, cursor.span(word), label=counts, help=help_))
    return Step(
        label,
        tiles,
        inputs,
        outputs,
        cores,
        attrs,
        slash="/" in word.text,
        span=span,
        comments=comments + inner,
        remark=cursor.remark(),
    )


def _begin_group(cursor: Cursor, number: int) -> None:
    if not cursor.at("("):
        if cursor.token.kind in {"comp", "end", "int"} or cursor.at("@", "}"):
            groups = "one group" if number == 2 else f"{number - 1} groups" if number > 1 else "no groups"
            raise fail("S112", f"the step has {groups} of three", cursor.span(cursor.previous), help=GROUPS)
        raise cursor.unexpected(f"`(` and the {('first', 'second', 'third')[number - 1]} group of the step")
    cursor.open("(", "`(`")


def _read_group(
    cursor: Cursor, number: int, wanted: str, read: Callable[[Cursor], _Entry]
) -> tuple[_Entry, ...]:
    _begin_group(cursor, number)
    if cursor.at(")"):
        raise cursor.unexpected(wanted)
    entries = cursor.separated(lambda: read(cursor))
    if cursor.at(";"):
        raise cursor.unexpected("`,` or `)`", "`;` separates inputs from outputs in the second group")
    cursor.close("`,`")
    return tuple(entries)


def _read_memories(cursor: Cursor) -> tuple[tuple[Mem, ...], tuple[Mem, ...]]:
    _begin_group(cursor, 2)
    inputs: list[Mem] = []
    if not cursor.at(";"):
        inputs = cursor.separated(lambda: read_memory(cursor, Site.INPUT))
    if cursor.at(")"):
        raise cursor.unexpected(
            "`,` or `;`", "the second group separates inputs from outputs: `( A:SM[1,2], ^ ; ^ )`"
        )
    cursor.expect(";", "`,` or `;`")
    if cursor.at(")"):
        raise cursor.unexpected(f"{MEMORY}, for the output")
    outputs = cursor.separated(lambda: read_memory(cursor, Site.OUTPUT))
    cursor.close("`,`")
    return tuple(inputs), tuple(outputs)
