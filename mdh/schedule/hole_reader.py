"""Reads `?`, `?name`, `?{…}`, `?name{…}` and `{…}`."""

from mdh.diagnostics import fail
from mdh.schedule.cursor import Cursor
from mdh.schedule.model import LIBRARIES, Hole
from mdh.schedule.names import listed, nearest

VALUE_LIMIT = 128
"""The most values of a set. Exact counting of spaces takes time and memory that grow with its square."""
_MEMBER = "a value: a number, a word, `BLK.x`, `FOR.1` or `^`"


def at_hole(cursor: Cursor) -> bool:
    return cursor.token.kind == "hole" or cursor.at("{")


def read_hole(cursor: Cursor) -> Hole:
    """One hole. Its values are numbers or words as written; the caller resolves names."""
    first = cursor.token
    name: str | None = None
    if first.kind == "hole":
        name = cursor.take().text[1:] or None
    values = _read_set(cursor) if cursor.at("{") else None
    return Hole(name, values, cursor.since(first))


def _read_set(cursor: Cursor) -> tuple[int | str, ...]:
    cursor.open("{", "a set `{…}`")
    values = [_read_member(cursor)]
    while cursor.accept(","):
        if len(values) == VALUE_LIMIT:
            headline = f"the set has more than {VALUE_LIMIT} values"
            help_ = "name fewer, or leave the set out: `?` takes all divisors and powers of two"
            raise fail("S104", headline, cursor.span(cursor.token), help=help_)
        values.append(_read_member(cursor))
    cursor.close("`,`")
    return tuple(dict.fromkeys(values))


def _read_member(cursor: Cursor) -> int | str:
    if cursor.accept("^"):
        return "^"
    token = cursor.token
    if token.kind == "int":
        cursor.take()
        if cursor.accept("/"):
            return f"{int(token.text)}/{int(cursor.expect_kind('int', 'a number').text)}"
        return int(token.text)
    word = cursor.expect_kind("name", _MEMBER).text
    if word == "in" and cursor.token.kind == "name":
        reader = cursor.take().text
        cursor.expect(":", "`:` and a step of that stage")
        return f"in {reader}:{int(cursor.expect_kind('int', 'the label of a step').text)}"
    if word == "beside" and cursor.token.kind == "name":
        return f"beside {cursor.take().text}"
    if cursor.accept("."):
        if cursor.token.kind not in {"name", "int"}:
            raise cursor.unexpected("an axis or a number behind the dot")
        return f"{word}.{cursor.take().text}"
    if cursor.accept(":"):
        region = cursor.expect_kind("name", "a memory region").text
        return f"{word}:{region}[{_read_numbers(cursor, '[')}]"
    if word == "library" and cursor.at("("):
        return f"library({read_library(cursor)})"
    if cursor.at("("):
        return f"{word}({_read_numbers(cursor, '(')})"
    return word


def read_library(cursor: Cursor) -> str:
    """The name in `(openblas)`, behind the word `library`. Raises Failed S101."""
    cursor.open("(", "`(` and the name of a library")
    if cursor.token.kind == "name" and not cursor.at_word(*LIBRARIES):
        raise cursor.unexpected(listed(LIBRARIES), nearest(cursor.token.text, LIBRARIES))
    name = cursor.expect_kind("name", listed(LIBRARIES)).text
    cursor.close("")
    return name


def _read_numbers(cursor: Cursor, sign: str) -> str:
    cursor.open(sign, f"`{sign}`")
    numbers = cursor.separated(lambda: int(cursor.expect_kind("int", "a number").text))
    cursor.close("`,`")
    return ",".join(str(n) for n in numbers)
