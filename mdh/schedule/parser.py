"""Parses schedule text to a `Schedule`: docs/language.md, section 1.

This is recursive descent over a list of tokens. The language is LL(1) except for labels, so the parser is
short, takes a millisecond, and knows at each place in plain words what it expected.
tests/schedule/grammar.lark states the same language as a grammar, and tests compare the two.
"""

import re

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.schedule.case_reader import read_case
from mdh.schedule.cursor import Cursor
from mdh.schedule.entry_reader import positive
from mdh.schedule.loop_reader import read_loop
from mdh.schedule.model import Schedule, Section, SizeCase, SizeHeader
from mdh.schedule.names import KEYWORDS
from mdh.schedule.recovery import SYNTAX, ordered, without_step
from mdh.schedule.sections_reader import Sections, unexpected_item
from mdh.schedule.tokens import Token
from mdh.source import Source, Span

MOST_ERRORS = 50
"""The most steps whose syntax is reported. Only damaged texts have so many."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_HEADERS = ("target", "program", "for", "small")
_ITEM = (
    "a step `(de-)comp(…)`, `fuse`, `where`, `stage`, `loop`, `over`, `target`, `program`, `for` or `small`"
)


def parse_schedule(source: Source) -> Schedule:
    """The schedule that `source` states, with aliases resolved and with spans.

    Raises Failed with S1xx diagnostics: the first syntax error of each step, and every wrong name and
    argument.
    """
    found: list[Diagnostic] = []
    text, after = source, -1
    while True:
        cursor = Cursor(text)
        reader = _Items(cursor)
        try:
            reader.read()
            break
        except Failed as failed:
            found += failed.diagnostics
            first = failed.diagnostics[0]
            # where a bracket was missed
            place = first.labels[-1].span.start if first.labels else -1
            if first.code not in SYNTAX or place <= after or len(found) >= MOST_ERRORS:
                break
            shorter = without_step(text.text, place)
            if shorter is None:
                break
            text, after = Source(source.name, shorter), place
    if found or cursor.problems:
        raise Failed(*ordered([*found, *cursor.problems], source))
    return reader.schedule()


class _Items:
    """Collects the items of a text."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.comments: tuple[str, ...] = ()
        self.trailing: tuple[str, ...] = ()
        self.headers: dict[str, str] = {}
        self.sizes: list[SizeHeader] = []
        self.places: dict[str, Span] = {}
        self.once: dict[object, Span] = {}
        self.sections = Sections(cursor)
        self.cases: list[SizeCase] = []
        self.loops: dict[str, Section] = {}

    def schedule(self) -> Schedule:
        return Schedule(
            self.sections.found(),
            self.headers.get("target"),
            self.headers.get("program"),
            tuple(self.sizes),
            self.comments,
            self.cursor.source,
            self.places,
            self.trailing,
            tuple(self.cases),
            loops=tuple(self.loops.values()),
        )

    def read(self) -> None:
        self.comments = _head(self.cursor)
        while self.cursor.token.kind != "end":
            if self.sections.begin:
                self._demand_alone(others=bool(self.cases))
                self.sections.read()
            elif self.cursor.at_word("loop"):
                self._demand_alone(others=bool(self.cases))
                read_loop(self.cursor, self.loops)
            elif self.cursor.at_word("over"):
                self._demand_alone(others=bool(self.sections.found() or self.loops))
                self.cases.append(read_case(self.cursor, self.cases))
            elif self.cursor.at_word(*_HEADERS):
                self._header()
            else:
                raise unexpected_item(self.cursor, _ITEM)
        self.trailing = self.cursor.comments_before(len(self.cursor.source.text))

    def _demand_alone(self, *, others: bool) -> None:
        """Raises Failed S114 for steps beside the cases of a table."""
        if others:
            headline = "steps stand both inside and outside of `over`"
            hint = "a table has each step inside `over SIZE=1..64 { … }`"
            raise fail("S114", headline, self.cursor.span(self.cursor.token), help=hint)

    def _header(self) -> None:
        cursor = self.cursor
        word = cursor.take()
        if word.text in ("for", "small"):
            self._sizes(word)
        else:
            name = self._name(f"a name behind `{word.text}`")
            self._once(word.text, cursor.span(word), f"`{word.text}`")
            self.headers[word.text], self.places[word.text] = name.text, name
        self.comments += cursor.comments_before(cursor.previous.end)
        remark = cursor.remark()
        self.comments += (remark,) if remark else ()

    def _sizes(self, word: Token) -> None:
        """Reads what follows `for` or `small`."""
        cursor = self.cursor
        named = cursor.token.kind == "name" and cursor.look(1).text != "="
        program = cursor.take().text if named else None
        places: dict[str, Span] = {}
        sizes: dict[str, int] = {}
        while not sizes or (self._goes_on() and not cursor.at_word("on")):
            size = cursor.expect_kind("name", "a size, as in `M=1024`").text
            places[size] = self._once((word, size), cursor.since(cursor.previous), f"`{size}`")
            cursor.expect("=", f"`=` and the number of `{size}`")
            sizes[size] = positive(cursor, "a whole number", "sizes begin at 1")
        machines: list[str] = []
        if cursor.at_word("on"):
            cursor.take()
            while not machines or self._goes_on():
                place = self._name("the name of a machine")
                # a size may have the same name
                key = f"on {place.text}"
                places[key] = self._once((word, key), place, f"`{place.text}`")
                machines.append(place.text)
        if cursor.token.kind == "sign" and not cursor.at("("):
            raise cursor.unexpected("another machine" if machines else "another size, or `on` and a machine")
        span = cursor.since(word)
        self._once((word.text, program, *sorted(sizes.items())), span, f"`{word.text}` with the same sizes")
        header = SizeHeader(word.text, tuple(sizes.items()), program, tuple(machines), span, places)
        self.sizes.append(header)

    def _goes_on(self) -> bool:
        return self.cursor.token.kind == "name" and not self.cursor.at_word(*KEYWORDS)

    def _name(self, wanted: str) -> Span:
        """The span of a name that may contain dots and dashes."""
        cursor = self.cursor
        found = _HEADER_NAME.match(cursor.source.text, cursor.token.start)
        if found is None or cursor.begins_step():
            raise cursor.unexpected(wanted)
        cursor.skip_to(found.end())
        return Span(cursor.source, *found.span())

    def _once(self, key: object, place: Span, what: str) -> Span:
        """Returns `place`. Raises Failed S114 if `key` occurred before."""
        first = self.once.setdefault(key, place)
        if first is not place:
            labels = (Label(place, "again here"), Label(first, "first here"))
            raise Failed(Diagnostic("S114", f"{what} is given twice", labels))
        return place


def _head(cursor: Cursor) -> tuple[str, ...]:
    """The comments at the head of the file, without those directly above the first item."""
    source, item = cursor.source, cursor.token
    if item.kind == "end" or cursor.at_word(*_HEADERS):
        return cursor.comments_before(item.start)
    text = source.text[: item.start]
    gap = max(text.rfind("\n\n"), text.rfind("\r\n\r\n"))
    return cursor.comments_before(gap) if gap >= 0 else ()
