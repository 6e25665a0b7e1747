"""Reads steps and `stage` sections: those of a schedule, or of one case of a table."""

from dataclasses import replace

from mdh.diagnostics import Failed, fail
from mdh.schedule.attribute_reader import read_attributes
from mdh.schedule.attributes import Site
from mdh.schedule.body import SectionBody, begins_body_item
from mdh.schedule.cursor import Cursor
from mdh.schedule.hole_reader import read_library
from mdh.schedule.hole_values import read_hole_in, stage_entry
from mdh.schedule.holes import HolePlace
from mdh.schedule.model import Beside, Hole, How, Library, Online, Section, Way, Within
from mdh.schedule.names import KEYWORDS, nearest
from mdh.schedule.printer import STEPS, may_call
from mdh.schedule.tokens import Token

_WAYS = "`in STAGE:step`, `online STAGE`, `beside STAGE`, `inline`, `kernel`, `= library(…)` or `?`"
_HOW = f"`{{` and the stage's steps, {_WAYS}"
_CHOICE = "`library(NAME)`, or a choice: `?{steps, library(NAME)}`"
_OUTSIDE = ("where", "fuse")
_STAGE_ITEM = "a step `(de-)comp(…)`, `fuse`, `where` or `}`"


class Sections:
    """Collects sections. Steps outside of `stage` are those of a program's only stage."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._stages: dict[str, Section] = {}
        self._body = SectionBody()
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
            raise mixed(cursor, first if self._bare.text not in _OUTSIDE else self._bare)
        name = cursor.expect_kind("name", "the name of a stage")
        if name.text in self._stages:
            raise fail(
                "S114", f"the stage `{name.text}` has two sections", cursor.span(name), label="again here"
            )
        how = _read_how(cursor)
        attrs = read_attributes(cursor, Site.STAGE)
        body, span = SectionBody(), cursor.span(first, name)
        if how is not None and not isinstance(how, Within | Online) and not cursor.at("{"):
            section = body.section(name.text, cursor.since(first), comments)
            section = replace(section, derived=True, remark=cursor.remark())
        else:
            _read_body(cursor, body)
            section = body.section(name.text, span, comments)
        self._stages[name.text] = replace(section, how=how or How.KERNEL, attrs=attrs)


def _read_how(cursor: Cursor) -> Way | None:
    """What stands behind the name of a stage; None if its steps follow. Raises Failed S101."""
    if cursor.accept("="):
        return _read_choice(cursor)
    if cursor.token.kind == "hole":
        # `?{inline, kernel}` has a set, `? { 1: … }` has steps
        if cursor.look(1).text == "{" and cursor.look(2).text in (*How, "in", "beside"):
            return read_hole_in(cursor, HolePlace.STAGE)
        first = cursor.take()
        return Hole(first.text[1:] or None, None, cursor.since(first))
    if cursor.at_word("in"):
        return _read_within(cursor)
    if cursor.at_word("online"):
        return _read_online(cursor)
    if cursor.at_word("beside"):
        first = cursor.take()
        host = cursor.expect_kind("name", "the name of the stage whose launch it shares")
        return Beside(host.text, cursor.since(first))
    if cursor.token.kind == "name":
        how = None if cursor.at_word(STEPS) else stage_entry(cursor.token.text)
        if how is None:
            raise cursor.unexpected(_HOW, nearest(cursor.token.text, (*How, "in", "online", "beside")))
        cursor.take()
        return how
    return None


def _read_choice(cursor: Cursor) -> Library | Hole:
    """`library(openblas)` or `?{steps, library(openblas)}`. Raises Failed S101, S115."""
    first = cursor.token
    if cursor.at_word("library"):
        cursor.take()
        return Library(read_library(cursor), cursor.since(first))
    if first.kind != "hole" or cursor.look(1).text != "{":
        raise cursor.unexpected(_CHOICE)
    read = read_hole_in(cursor, HolePlace.STAGE)
    values = tuple(STEPS if v == How.KERNEL else v for v in read.values or ())
    hole = replace(read, values=values or None)
    others = [v for v in values if v != STEPS and not str(v).startswith("library(")]
    if values and (others or not may_call(hole)):
        what = f"`{others[0]}`" if others else "no library"
        hint = "a choice of other ways has no `=`: `stage T ?{inline, kernel}`"
        label = "expected `steps` and `library(NAME)`"
        cursor.report(fail("S115", f"the choice behind `=` has {what}", hole.span, label=label, help=hint))
    return hole


def _read_within(cursor: Cursor) -> Within:
    """`in C:2`. Raises Failed S101."""
    first = cursor.take()
    reader = cursor.expect_kind("name", "the name of the stage that reads the results")
    cursor.expect(":", "`:` and a step of that stage")
    step = cursor.expect_kind("int", "the label of a step, or its place in the text")
    return Within(reader.text, int(step.text), cursor.since(first))


def _read_online(cursor: Cursor) -> Online:
    """`online t, u`. Raises Failed S101."""
    first = cursor.take()
    wanted = "the name of a stage that is reduced in the same pass"
    names = [cursor.expect_kind("name", wanted)]
    while cursor.accept(","):
        names.append(cursor.expect_kind("name", wanted))
    return Online(tuple(n.text for n in names), cursor.since(first), tuple(map(cursor.span, names)))


def _read_body(cursor: Cursor, body: SectionBody) -> None:
    """Reads `{ … }`."""
    cursor.open("{", _HOW)
    while not cursor.at("}"):
        if not begins_body_item(cursor):
            raise unexpected_item(cursor, _STAGE_ITEM)
        body.read(cursor)
    cursor.close("")


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
    headline = "steps stand both inside and outside of `stage` sections"
    help_ = "a schedule of several stages has each step inside `stage NAME { … }`"
    if token.text in _OUTSIDE:
        headline = f"a `{token.text}` stands outside of the `stage` sections"
        help_ = f"put it into the section of the stage that it is about: `stage NAME {{ {token.text} … }}`"
    return fail("S114", headline, cursor.span(token), help=help_)
