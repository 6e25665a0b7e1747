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
LOOP_GROUPS = "a step of a loop has two groups: `( tiles ) ( cores )`"
_COUNTS = ("no groups", "one group", "two", "three")
_THREE, _TWO = ("first", "second", "third"), ("first", "second")
_HELP = {_THREE: GROUPS, _TWO: LOOP_GROUPS}


def at_step(cursor: Cursor) -> bool:
    """Whether a step begins here: its word, a label, or something similar to one of them."""
    return cursor.token.kind in {"comp", "int"}


def read_step(cursor: Cursor, *, memory: bool = True) -> Step:
    """memory: whether the step has a group of memory entries; those of loops around stages have none."""
    first = cursor.token
    comments = cursor.comments_before(first.start)
    label: int | None = None
    if first.kind == "int":
        cursor.take()
        cursor.expect(":", "`:` behind the label of a step")
        label = int(first.text)
    word = cursor.expect_kind("comp", "`(de-)comp` or `(de/re)-comp`")
    groups = _THREE if memory else _TWO
    tiles = _read_group(cursor, 1, groups, TILE, read_tile)
    inputs, outputs = _read_memories(cursor) if memory else ((), ())
    cores = _read_group(cursor, len(groups), groups, CORE, read_core)
    if cursor.at("("):
        headline = f"the step has more than {_COUNTS[len(groups)]} groups"
        raise fail("S112", headline, cursor.span(cursor.token), help=_HELP[groups])
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


def _begin_group(cursor: Cursor, number: int, groups: tuple[str, ...]) -> None:
    """groups: the ordinals of all groups that the step has."""
    if not cursor.at("("):
        if cursor.token.kind in {"comp", "end", "int"} or cursor.at("@", "}"):
            there = "one group" if number == 2 else f"{number - 1} groups" if number > 1 else "no groups"
            headline = f"the step has {there} of {_COUNTS[len(groups)]}"
            raise fail("S112", headline, cursor.span(cursor.previous), help=_HELP[groups])
        raise cursor.unexpected(f"`(` and the {groups[number - 1]} group of the step")
    cursor.open("(", "`(`")


def _read_group(
    cursor: Cursor, number: int, groups: tuple[str, ...], wanted: str, read: Callable[[Cursor], _Entry]
) -> tuple[_Entry, ...]:
    _begin_group(cursor, number, groups)
    if cursor.at(")"):
        raise cursor.unexpected(wanted)
    entries = cursor.separated(lambda: read(cursor))
    if cursor.at(";"):
        hint = "`;` separates inputs from outputs in the second group"
        raise cursor.unexpected("`,` or `)`", hint if groups == _THREE else LOOP_GROUPS)
    cursor.close("`,`")
    return tuple(entries)


def _read_memories(cursor: Cursor) -> tuple[tuple[Mem, ...], tuple[Mem, ...]]:
    _begin_group(cursor, 2, _THREE)
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
