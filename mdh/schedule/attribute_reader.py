"""Reads `@name(arg, …)`."""

from mdh.schedule.attribute_values import attribute_problems
from mdh.schedule.attributes import Site
from mdh.schedule.cursor import Cursor
from mdh.schedule.hole_reader import at_hole, read_hole
from mdh.schedule.model import Arg, ArgCall, Attr, Hole


def read_attributes(cursor: Cursor, site: Site) -> tuple[Attr, ...]:
    """The attributes at the cursor, checked against the table. Problems are collected and not raised."""
    attrs: list[Attr] = []
    while cursor.at("@"):
        first = cursor.take()
        name = cursor.expect_kind("name", "the name of an attribute")
        args = _read_arguments(cursor) if cursor.at("(") else ()
        attrs.append(Attr(name.text, args, cursor.since(first)))
    cursor.problems.extend(attribute_problems(tuple(attrs), site))
    return tuple(attrs)


def _read_arguments(cursor: Cursor) -> tuple[Arg, ...]:
    cursor.open("(", "`(`")
    args = cursor.separated(lambda: _read_argument(cursor))
    cursor.close("`,`")
    return tuple(args)


def _read_argument(cursor: Cursor) -> Arg:
    """An argument and its `else` alternatives. They are read in a loop and linked from the last one on."""
    chain = [_read_alternative(cursor)]
    while cursor.at_word("else"):
        cursor.take()
        chain.append(_read_alternative(cursor))
    arg = chain.pop()
    while chain:
        before = chain.pop()
        arg = Arg(before.value, before.name, arg, before.span)
    return arg


def _read_alternative(cursor: Cursor) -> Arg:
    first = cursor.token
    name: str | None = None
    if first.kind == "name" and cursor.look(1).text == "=":
        name = cursor.take().text
        cursor.take()
    value = _read_value(cursor)
    return Arg(value, name, None, cursor.since(first))


def _read_value(cursor: Cursor) -> int | str | Hole | ArgCall:
    if at_hole(cursor):
        return read_hole(cursor)
    token = cursor.token
    if token.kind == "int":
        cursor.take()
        if cursor.accept("/"):
            below = cursor.expect_kind("int", "a number behind `/`")
            return f"{int(token.text)}/{int(below.text)}"
        return int(token.text)
    cursor.expect_kind("name", "an argument: a number, a word, `?` or a set `{…}`")
    return ArgCall(token.text, _read_arguments(cursor)) if cursor.at("(") else token.text
