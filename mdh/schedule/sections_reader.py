"""Reads steps and `stage` sections: those of a schedule, or of one case of a table."""

from mdh.diagnostics import Failed, fail
from mdh.schedule.body import Body, begins_body_item
from mdh.schedule.cursor import Cursor
from mdh.schedule.model import Section
from mdh.schedule.names import KEYWORDS, nearest
from mdh.schedule.tokens import Token

_STAGE_ITEM = "a step `(de-)comp(…)`, `fuse`, `where` or `}`"


class Sections:
    """Collects sections. Steps outside of `stage` are those of a program's only stage."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._stages: dict[str, Section] = {}
        self._body = Body()
        self._bare: Token | None = None

    @property
    def begin(self) -> bool:
        """Whether an item of a section comes next."""
        return begins_body_item(self._cursor) or self._cursor.at_word("stage")

    def read(self) -> None:
        """Reads the item that comes next. Requires `begin`. Raises Failed S1xx."""
        if self._cursor.at_word("stage"):
            self._stage()
            return
        if self._stages:
            raise mixed(self._cursor, self._cursor.token)
        self._bare = self._bare or self._cursor.token
        self._body.read(self._cursor)

    def found(self) -> tuple[Section, ...]:
        if self._bare is not None:
            return (self._body.section(None, self._cursor.span(self._bare)),)
        return tuple(self._stages.values())

    def _stage(self) -> None:
        cursor = self._cursor
        comments = cursor.comments_before(cursor.token.start)
        first = cursor.take()
        if self._bare is not None:
            raise mixed(cursor, first)
        name = cursor.expect_kind("name", "the name of a stage")
        if name.text in self._stages:
            raise fail(
                "S114", f"the stage `{name.text}` has two sections", cursor.span(name), label="again here"
            )
        cursor.open("{", "`{`")
        body = Body()
        while not cursor.at("}"):
            if not begins_body_item(cursor):
                raise unexpected_item(cursor, _STAGE_ITEM)
            body.read(cursor)
        cursor.close("")
        self._stages[name.text] = body.section(name.text, cursor.span(first, name), comments)


def unexpected_item(cursor: Cursor, wanted: str) -> Failed:
    word = cursor.token
    if word.kind == "name":
        return cursor.unexpected(wanted, nearest(word.text, KEYWORDS))
    if cursor.at("("):
        return cursor.unexpected(wanted, "a step begins with `(de-)comp` or `(de/re)-comp`")
    if word.kind == "hole":
        hint = "a `?` stands for one entry of a step; a step that leaves everything open, for a product of"
        return cursor.unexpected(wanted, f"{hint} matrices: (de-)comp( ?, ?, ? ) ( ?, ? ; ? ) ( ?, ?, ? )")
    return cursor.unexpected(wanted)


def mixed(cursor: Cursor, token: Token) -> Failed:
    return fail(
        "S114",
        "steps stand both inside and outside of `stage` sections",
        cursor.span(token),
        help="a schedule of several stages has each step inside `stage NAME { … }`",
    )
