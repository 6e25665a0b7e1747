"""Reads the headers `for` and `small`: sizes and machines that a schedule was made for."""

import re

from mdh.diagnostics import fail
from mdh.schedule.cursor import Cursor
from mdh.schedule.entry_reader import positive
from mdh.schedule.model import SizeHeader
from mdh.schedule.names import KEYWORDS
from mdh.source import Span

_MACHINE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def read_size_header(cursor: Cursor) -> SizeHeader:
    """Raises Failed S101, and S114 for a size or a machine that stands twice; reports S105."""
    word = cursor.take()
    named = cursor.token.kind == "name" and cursor.look(1).text != "="
    program = cursor.take().text if named else None
    places: dict[str, Span] = {}
    sizes: list[tuple[str, int]] = []
    while not sizes or _goes_on(cursor, "on"):
        name = cursor.expect_kind("name", "a size, as in `M=1024`")
        cursor.expect("=", f"`=` and the number of `{name.text}`")
        _place(places, name.text, cursor.span(name))
        sizes.append((name.text, positive(cursor, "a whole number", "sizes begin at 1")))
    machines: list[str] = []
    if cursor.at_word("on"):
        cursor.take()
        while not machines or _goes_on(cursor):
            found = _MACHINE.match(cursor.source.text, cursor.token.start)
            if found is None:
                raise cursor.unexpected("the name of a machine")
            _place(places, found.group(), Span(cursor.source, *found.span()))
            machines.append(found.group())
            cursor.skip_to(found.end())
    if cursor.token.kind == "sign" and not cursor.at("("):
        raise cursor.unexpected("another machine" if machines else "another size, or `on` and a machine")
    return SizeHeader(word.text, tuple(sizes), program, tuple(machines), cursor.since(word), places)


def _goes_on(cursor: Cursor, *ends: str) -> bool:
    return cursor.token.kind == "name" and not cursor.at_word(*KEYWORDS, *ends)


def _place(places: dict[str, Span], name: str, span: Span) -> None:
    if name in places:
        raise fail("S114", f"`{name}` stands twice in a header", span, label="again here")
    places[name] = span
