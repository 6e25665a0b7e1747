"""What a place in a schedule is, also in a text that is half-written: between which items, in which group,
at which entry. It reads tokens alone, from the beginning to the place, and never fails.

The parser knows more, but stops at the first error. What is behind an error begins anew at the next step, and
at the next line that begins with a keyword.
"""

from dataclasses import dataclass, field
from enum import StrEnum, auto

from mdh.schedule.attributes import Site
from mdh.schedule.model import How
from mdh.schedule.names import KEYWORDS
from mdh.schedule.tokens import Token, known_tokens
from mdh.source import Source, Span

SECTIONS = ("stage", "loop", "over")
_CLOSING = {")": ("group", "args", "call"), "]": ("layout",), "}": ("set", "section", "case")}


class Kind(StrEnum):
    """What can stand at a place."""

    ITEM = auto()
    """A step, a keyword."""
    MACHINE = auto()
    PROGRAM = auto()
    SIZE = auto()
    """The name of a size, in `for`, `small` or `over`."""
    STAGE = auto()
    """The name of a stage behind `stage`."""
    READER = auto()
    """The name of a stage behind `in`."""
    READER_STEP = auto()
    HOW = auto()
    LOOP = auto()
    DIMENSION = auto()
    CONDITION = auto()
    TILE = auto()
    INPUT = auto()
    OUTPUT = auto()
    REGION = auto()
    LAYOUT = auto()
    CORE = auto()
    AXIS = auto()
    ATTRIBUTE = auto()
    ARGUMENT = auto()
    NOTHING = auto()
    """Only a sign, a number, or an attribute."""


@dataclass(frozen=True, slots=True)
class Place:
    """word: what is written there; empty between words. stage, loop: of the section around it. case: its
    number in a table; -1 outside of one. step: its number in the section from 0; -1 outside of steps.
    entry: its number in the group, in a layout that of its dimension. site: what an attribute would be
    attached to. buffer, layer, attribute: those that are written before `:`, `.` and `(`. argument: its
    number; named: the name before `=`. in_set: whether it is a value of a set."""

    kind: Kind
    word: Span
    token: str = "name"
    stage: str | None = None
    loop: str | None = None
    case: int = -1
    step: int = -1
    entry: int = 0
    site: Site | None = None
    buffer: str = ""
    layer: str = ""
    attribute: str = ""
    argument: int = 0
    named: str = ""
    in_set: bool = False


@dataclass(slots=True)
class Walker:
    """Reads tokens one after another, and knows what stands around the next one."""

    tokens: list[Token]
    at: int = 0
    word: str = ""
    """The keyword of the item, or `step`; empty before the first."""
    tail: list[Token] = field(default_factory=list)
    """Of the item so far, outside of brackets, without its keyword."""
    open: list[str] = field(default_factory=list)
    """What the brackets that are open hold: section, case, group, args, call, layout, set."""
    stage: str | None = None
    loop: str | None = None
    case: int = -1
    cases: int = 0
    step: int = -1
    steps: int = 0
    groups: int = 0
    entry: int = 0
    outputs: bool = False
    dimension: int = 0
    buffer: str = ""
    attribute: str = ""
    argument: int = 0

    @property
    def inner(self) -> list[str]:
        """The open brackets of the item itself."""
        return [x for x in self.open if x not in ("section", "case")]

    @property
    def before(self) -> Token | None:
        """The token taken last."""
        return self.tokens[self.at - 1] if self.at else None

    def first_of_line(self, source: Source) -> bool:
        """Whether a newline stands before the next token."""
        start = self.before.end if self.before else 0
        return not self.at or "\n" in source.text[start : self.tokens[self.at].start]

    def take(self, source: Source) -> None:
        """Takes the next token."""
        token = self.tokens[self.at]
        match token.kind:
            case "comp":
                self._step()
            case "name" if token.text in KEYWORDS and (not self.inner or self.first_of_line(source)):
                self._keyword(token.text)
            case "int" if self._labels():
                self._begin("label")
            case "sign":
                self._sign(token)
            case _:
                self._plain(token)
        self.at += 1

    def _labels(self) -> bool:
        """Whether the next token is the label of a step."""
        after = [t.kind if t.kind == "comp" else t.text for t in self.tokens[self.at + 1 : self.at + 3]]
        return after == [":", "comp"]

    def _begin(self, word: str) -> None:
        """Begins an item. Brackets of the one before are closed, whether the text says so or not."""
        self.open = [x for x in self.open if x in ("section", "case")]
        self.word, self.tail, self.attribute = word, [], ""
        self.step, self.groups = -1, 0

    def _step(self) -> None:
        self._begin("step")
        self.step, self.steps = self.steps, self.steps + 1

    def _keyword(self, text: str) -> None:
        self._begin(text)
        if text in SECTIONS:
            self.open = [x for x in self.open if x == "case" and text == "stage"]
            self.stage = self.loop = None
            self.steps = 0
        if text == "over":
            self.case, self.cases = self.cases, self.cases + 1

    def _plain(self, token: Token) -> None:
        before = self.before
        if before is not None and before.text == "@":
            self.attribute = token.text
        elif not self.inner:
            if not self.tail and self.word == "stage":
                self.stage = token.text
            if not self.tail and self.word == "loop":
                self.loop = token.text
            self.tail.append(token)

    def _sign(self, token: Token) -> None:
        text, top = token.text, (self.inner or [""])[-1]
        if text in ("(", "[", "{"):
            self._open(text, top)
        elif text in _CLOSING:
            self._close(text)
        elif text == ",":
            self._comma(top)
        elif text == ";" and top == "group":
            self.outputs, self.entry, self.attribute = True, 0, ""
        elif text == ":" and top == "group" and self.before is not None:
            self.buffer = self.before.text
        if not self.inner and text not in ("(", "[", "{", *_CLOSING):
            self.tail.append(token)

    def _open(self, text: str, top: str) -> None:
        before = self.before.text if self.before else ""
        if text == "[":
            self.open.append("layout")
            self.dimension = 0
        elif text == "{":
            self.open.append(self._brace(top))
        elif self.attribute and before == self.attribute and top in ("", "group"):
            self.open.append("args")
            self.argument = 0
        elif top == "" and self.word == "step":
            self.open.append("group")
            self.groups, self.entry, self.outputs, self.attribute = self.groups + 1, 0, False, ""
        else:
            self.open.append("call")

    def _brace(self, top: str) -> str:
        """What a `{` opens. `stage T ?{inline}` has a set, `stage T ? { 1: … }` a section."""
        if top or self.word not in SECTIONS:
            return "set"
        after = self.tokens[self.at + 1].text
        if self.word == "stage" and self.tail and self.tail[-1].kind == "hole" and after in (*How, "in"):
            return "set"
        kind = "case" if self.word == "over" else "section"
        self.word, self.tail, self.attribute, self.steps = "", [], "", 0
        return kind

    def _close(self, text: str) -> None:
        for n in reversed(range(len(self.open))):
            if self.open[n] in _CLOSING[text]:
                closed = self.open[n:]
                self.open = self.open[:n]
                if {"section", "case"} & set(closed):
                    self._begin("")
                    self.stage = self.loop = None
                    self.steps = 0
                if "case" in closed:
                    self.case = -1
                return

    def _comma(self, top: str) -> None:
        if top == "group":
            self.entry, self.attribute = self.entry + 1, ""
        elif top == "args":
            self.argument += 1
        elif top == "layout":
            self.dimension += 1

    @property
    def site(self) -> Site | None:
        """What an attribute here is attached to."""
        if "group" in self.inner:
            return self._group_site()
        if self.word == "step":
            return Site.STEP if self.groups else None
        return Site.STAGE if self.word == "stage" else None

    def _group_site(self) -> Site:
        if self.groups == 1:
            return Site.TILE
        if self.loop is not None or self.groups > 2:
            return Site.CORE
        return Site.OUTPUT if self.outputs else Site.INPUT


def place_at(source: Source, offset: int, *, typing: bool) -> Place:
    """What stands at an offset. typing: the word that ends there counts, as while it is typed; else the one
    that begins there is preferred."""
    tokens = known_tokens(source)
    walker = Walker(tokens)
    here = _word_at(tokens, offset, typing=typing)
    start = offset if here is None else here.start
    while tokens[walker.at].kind != "end" and tokens[walker.at].start < start:
        walker.take(source)
    kind = _kind(walker, source, start)
    end = start if here is None else here.end
    top = (walker.inner or [""])[-1]
    before = walker.before.text if walker.before else ""
    behind = tokens[walker.at - 2].text if walker.at > 1 else ""
    return Place(
        kind, Span(source, start, end), "" if here is None else here.kind, walker.stage, walker.loop,
        walker.case, walker.step, walker.dimension if top == "layout" else walker.entry, walker.site,
        walker.buffer if kind in (Kind.REGION, Kind.LAYOUT) else "",
        behind if kind is Kind.AXIS else "",
        walker.attribute if kind in (Kind.ARGUMENT, Kind.ATTRIBUTE) else "",
        walker.argument, behind if top == "args" and before == "=" else "", top == "set",
    )  # fmt: skip


def _word_at(tokens: list[Token], offset: int, *, typing: bool) -> Token | None:
    words = [t for t in tokens if t.kind in ("name", "int", "hole", "comp")]
    if typing:
        return next((t for t in words if t.start < offset <= t.end), None)
    return next((t for t in words if t.start <= offset < t.end), None) or next(
        (t for t in words if t.end == offset), None
    )


_AT_GROUP = {Site.TILE: Kind.TILE, Site.INPUT: Kind.INPUT, Site.OUTPUT: Kind.OUTPUT, Site.CORE: Kind.CORE}


def _kind(walker: Walker, source: Source, start: int) -> Kind:
    before = walker.before
    sign = before.text if before is not None and before.kind == "sign" else ""
    inner = walker.inner
    if sign == "@":
        return Kind.ATTRIBUTE
    if not inner:
        return _outside(walker, source, start, sign)
    if inner[-1] in ("args", "call") and "args" in inner:
        return Kind.ARGUMENT
    if inner[-1] == "layout":
        return Kind.LAYOUT
    if inner[-1] == "set":
        return _set(walker)
    if inner[-1] != "group":
        return Kind.NOTHING
    site = walker.site
    if site is not None and sign in ("(", ",", ";"):
        return _AT_GROUP[site]
    if sign == ":" and site in (Site.INPUT, Site.OUTPUT):
        return Kind.REGION
    return Kind.AXIS if sign == "." and site is Site.CORE else Kind.NOTHING


def _set(walker: Walker) -> Kind:
    """The kind of the entry that the values of a set stand for."""
    if "args" in walker.inner:
        return Kind.ARGUMENT
    if "layout" in walker.inner:
        return Kind.LAYOUT
    if "group" not in walker.inner:
        return Kind.HOW if walker.word == "stage" else Kind.NOTHING
    site = walker.site
    return Kind.NOTHING if site is None else _AT_GROUP[site]


def _outside(walker: Walker, source: Source, start: int, sign: str) -> Kind:
    """The kind of a place outside of brackets, apart from those of sections."""
    tail = [t.text for t in walker.tail]
    before = walker.before
    fresh = before is None or "\n" in source.text[before.end : start]
    match walker.word:
        case "target" if not tail:
            return Kind.MACHINE
        case "program" if not tail:
            return Kind.PROGRAM
        case "for" | "small" if not tail:
            return Kind.PROGRAM
        case "for" | "small" if not fresh and sign != "=":
            return Kind.MACHINE if "on" in tail else Kind.SIZE
        case "over" if sign not in ("=", ".", ":"):
            return Kind.SIZE
        case "stage" if not tail:
            return Kind.STAGE
        case "stage" if len(tail) == 1:
            return Kind.HOW
        case "stage" if tail[-1] in ("in", "beside", "online"):
            return Kind.READER
        case "stage" if tail[-1] == ":":
            return Kind.READER_STEP
        case "loop" if not tail:
            return Kind.LOOP
        case "fuse" if sign == "," or not tail:
            return Kind.DIMENSION
        case "where" if not fresh or not tail:
            return Kind.CONDITION
        case "" | "label":
            return Kind.ITEM
    return Kind.ITEM if fresh else Kind.NOTHING
