"""Schedule text to `Schedule`: docs/language.md, section 1.

Recursive descent over a token list. The language is LL(1) but for labels, so this is short, takes a
millisecond, and each place knows in plain words what it expected. tests/schedule/grammar.lark states the same
language as a grammar; the tests hold the two against each other.
"""

import re

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.schedule.condition_reader import read_where
from mdh.schedule.cursor import Cursor
from mdh.schedule.model import Schedule, Section, Step, Where
from mdh.schedule.names import KEYWORDS, nearest
from mdh.schedule.step_reader import at_step, read_step
from mdh.schedule.tokens import CommentToken, Token
from mdh.source import Source

_HEADER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_ITEM = "a step `(de-)comp(…)`, `where`, `stage`, `target` or `program`"
_STAGE_ITEM = "a step `(de-)comp(…)`, `where` or `}`"


def parse_schedule(source: Source) -> Schedule:
    """The schedule that `source` states, aliases resolved, with spans.

    Raises Failed with S1xx diagnostics: the first syntax error, or every wrong name and argument.
    """
    cursor = Cursor(source)
    reader = _Items(cursor)
    reader.read()
    if cursor.problems:
        raise Failed(*cursor.problems)
    return reader.schedule()


class _Items:
    """What the items read so far add up to."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.comments: tuple[str, ...] = ()
        self.trailing: tuple[str, ...] = ()
        self.headers: dict[str, str] = {}
        self.header_places: dict[str, Token] = {}
        self.stages: dict[str, Section] = {}
        self.steps: list[Step] = []
        self.wheres: list[Where] = []
        self.bare: Token | None = None

    def schedule(self) -> Schedule:
        sections = tuple(self.stages.values())
        if self.bare is not None:
            sections = (Section(None, tuple(self.steps), tuple(self.wheres), self.cursor.span(self.bare)),)
        return Schedule(
            sections,
            self.headers.get("target"),
            self.headers.get("program"),
            self.comments,
            self.cursor.source,
            self.trailing,
        )

    def read(self) -> None:
        self.comments = _head(self.cursor)
        while self.cursor.token.kind != "end":
            first = self.cursor.token
            if at_step(self.cursor):
                self._bare(first)
                self.steps.append(read_step(self.cursor))
            elif self.cursor.at_word("where"):
                self._bare(first)
                self.wheres.append(read_where(self.cursor, len(self.wheres)))
            elif self.cursor.at_word("stage"):
                self._stage()
            elif self.cursor.at_word("target", "program"):
                self._header()
            else:
                raise _unexpected_item(self.cursor, _ITEM)
        self.trailing = _lines(self.cursor.comments_before(len(self.cursor.source.text)))

    def _bare(self, first: Token) -> None:
        if self.stages:
            raise _mixed(self.cursor, first)
        self.bare = self.bare or first

    def _header(self) -> None:
        cursor = self.cursor
        word = cursor.take()
        found = _HEADER_NAME.match(cursor.source.text, cursor.token.start)
        if found is None or cursor.begins_step():
            raise cursor.unexpected(f"a name behind `{word.text}`")
        if word.text in self.headers:
            first = self.header_places[word.text]
            labels = (
                Label(cursor.span(word), "again here"),
                Label(cursor.span(first), "first here"),
            )
            raise Failed(Diagnostic("S114", f"`{word.text}` is given twice", labels))
        self.headers[word.text] = found.group()
        self.header_places[word.text] = word
        cursor.skip_to(found.end())
        self.comments += _lines(cursor.comments_before(cursor.previous.end))
        remark = cursor.remark()
        self.comments += (remark,) if remark else ()

    def _stage(self) -> None:
        cursor = self.cursor
        comments = _lines(cursor.comments_before(cursor.token.start))
        first = cursor.take()
        if self.bare is not None:
            raise _mixed(cursor, first)
        name = cursor.expect_kind("name", "the name of a stage")
        if name.text in self.stages:
            raise fail(
                "S114", f"the stage `{name.text}` has two sections", cursor.span(name), label="again here"
            )
        cursor.open("{", "`{`")
        steps: list[Step] = []
        wheres: list[Where] = []
        while not cursor.at("}"):
            if at_step(cursor):
                steps.append(read_step(cursor))
            elif cursor.at_word("where"):
                wheres.append(read_where(cursor, len(wheres)))
            else:
                raise _unexpected_item(cursor, _STAGE_ITEM)
        cursor.close("")
        self.stages[name.text] = Section(
            name.text, tuple(steps), tuple(wheres), cursor.span(first, name), comments
        )


def _unexpected_item(cursor: Cursor, wanted: str) -> Failed:
    word = cursor.token
    if word.kind == "name":
        return cursor.unexpected(wanted, nearest(word.text, KEYWORDS))
    if cursor.at("("):
        return cursor.unexpected(wanted, "a step begins with `(de-)comp` or `(de/re)-comp`")
    if word.kind == "hole":
        hint = "a `?` stands for one entry of a step; a step that leaves everything open, for a product of"
        return cursor.unexpected(wanted, f"{hint} matrices: (de-)comp( ?, ?, ? ) ( ?, ? ; ? ) ( ?, ?, ? )")
    return cursor.unexpected(wanted)


def _mixed(cursor: Cursor, token: Token) -> Failed:
    return fail(
        "S114",
        "steps stand both inside and outside of `stage` sections",
        cursor.span(token),
        help="a schedule of several stages has each step inside `stage NAME { … }`",
    )


def _lines(comments: list[CommentToken]) -> tuple[str, ...]:
    return tuple(line for c in comments for line in c.lines)


def _head(cursor: Cursor) -> tuple[str, ...]:
    """The comments at the head of the file; those that touch the first item are left to that item."""
    source, item = cursor.source, cursor.token
    if item.kind == "end" or cursor.at_word("target", "program"):
        return _lines(cursor.comments_before(item.start))
    text = source.text[: item.start]
    gap = max(text.rfind("\n\n"), text.rfind("\r\n\r\n"))
    return _lines(cursor.comments_before(gap)) if gap >= 0 else ()
