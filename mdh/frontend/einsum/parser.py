"""Parses an einsum text: letters of each operand and of the result, and the type of the elements.

    bmk,bkn->bmn            products of matrices, in float
    ij,jk,kl->il : double   three factors, in double

Source of the grammar: numpy.einsum. A letter that stands twice in an operand means its diagonal. Without
`->`, the result has the letters that stand once, in alphabetical order. An operand without letters is a
number: an array of one element.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mdh.diagnostics import Failed, fail
from mdh.frontend.types import TYPES
from mdh.ir.dtype import F32, DType
from mdh.source import Source, Span
from mdh.wording import meant

SYNTAX, RESULT, ELLIPSIS, TYPE = "E100", "E101", "E102", "E103"
MOST_OPERANDS, MOST_DIMENSIONS = 32, 32
MOST_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Einsum:
    """operands, result: letters. spans: of each operand; place: of the result, or of the whole text."""

    operands: tuple[str, ...]
    result: str
    kind: DType
    spans: tuple[Span, ...]
    place: Span

    @property
    def letters(self) -> str:
        """All letters, in the order of the text."""
        return "".join(dict.fromkeys("".join(self.operands)))


@dataclass(frozen=True, slots=True)
class Outline:
    """A text as it is written. operands, result: letters, and `...` where it stands. result: None without
    `->`. spans, place: as of Einsum."""

    operands: tuple[str, ...]
    result: str | None
    spans: tuple[Span, ...]
    place: Span


def parse(source: Source) -> Einsum:
    """Raises Failed E100 to E103."""
    text = source.text
    if len(text) > MOST_CHARACTERS:
        raise _too_long(source)
    body, colon, word = text.partition(":")
    kind = _kind(source, word, len(body) + 1) if colon else F32
    dots = body.find(".")
    if dots >= 0:
        what = "`...` stands for dimensions whose number is not known here"
        hint = "write letters; `mdh.einsum` in Python knows the arrays and takes `...`"
        raise fail(ELLIPSIS, what, Span(source, dots, dots + 1), help=hint)
    found = outline(source, body)
    result = implicit(found.operands) if found.result is None else found.result
    return Einsum(found.operands, result, kind, found.spans, found.place)


def outline(source: Source, body: str) -> Outline:
    """The operands and the result of the text in front of the type. Raises Failed E100 to E102."""
    if len(body) > MOST_CHARACTERS:
        raise _too_long(source)
    if not body.strip():
        hint = "write letters for the dimensions of each operand: ij,jk->ik"
        raise fail(SYNTAX, "the text is empty", _trimmed(source, 0, len(body)), help=hint)
    _check(source, body)
    left, arrow, right = body.partition("->")
    operands, spans, at = list[str](), list[Span](), 0
    for part in left.split(","):
        letters, span = re.sub(r"\s", "", part), _trimmed(source, at, at + len(part))
        _check_dots(letters, span)
        if len(letters) > MOST_DIMENSIONS:
            what = f"an operand has {len(letters)} dimensions, more than {MOST_DIMENSIONS}"
            raise fail(SYNTAX, what, span, help="give it fewer letters")
        operands.append(letters)
        spans.append(span)
        at += len(part) + 1
    if len(operands) > MOST_OPERANDS:
        raise fail(
            SYNTAX, f"there are {len(operands)} operands, more than {MOST_OPERANDS}", spans[MOST_OPERANDS]
        )
    place = _trimmed(source, len(left) + 2, len(body)) if arrow else _trimmed(source, 0, len(body))
    result = re.sub(r"\s", "", right)
    _check_dots(result, place)
    for n, letter in enumerate(result.replace("...", "")):
        if letter in result.replace("...", "")[:n]:
            raise fail(
                RESULT, f"`{letter}` stands twice in the result", place, help="name each dimension once"
            )
        if not any(letter in one for one in operands):
            hint = "leave it out, or give it to an operand"
            raise fail(RESULT, f"`{letter}` stands in no operand", place, help=hint)
    return Outline(tuple(operands), result if arrow else None, tuple(spans), place)


def implicit(operands: Sequence[str]) -> str:
    """The result of a text without `->`."""
    every = "".join(operands)
    return "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))


def _too_long(source: Source) -> Failed:
    return fail(SYNTAX, f"the text has more than {MOST_CHARACTERS:,} characters", Span(source, 0, 1))


def _check(source: Source, body: str) -> None:
    """Raises Failed E100 for characters that the grammar has not."""
    arrows = body.count("->")
    rest = body.replace("->", "  ", 1).replace("...", "   ")
    for n, char in enumerate(rest):
        if not (char.isascii() and char.isalpha()) and char != "," and not char.isspace():
            what = "a second `->`" if arrows > 1 and rest[n : n + 2] == "->" else f"`{char}`"
            said = "operands are separated by commas, and the result stands behind `->`"
            said = {".": "`...`, three dots, stands for several dimensions",
                    ":": "the type is that of the arrays"}.get(char, said)  # fmt: skip
            raise fail(SYNTAX, f"{what} has no meaning here", Span(source, n, n + 1), help=said)
    if "," in body.partition("->")[2]:
        at = body.rindex(",")
        raise fail(SYNTAX, "there is one result", Span(source, at, at + 1))


def _check_dots(letters: str, span: Span) -> None:
    if letters.count("...") > 1:
        what = "`...` stands twice for dimensions of one array"
        raise fail(ELLIPSIS, what, span, help="write it once, and letters for the other dimensions")


def _kind(source: Source, word: str, at: int) -> DType:
    name = word.strip()
    if name not in TYPES:
        hint = meant(name, TYPES, cutoff=0.6, otherwise=f"types: {', '.join(TYPES)}")
        raise fail(TYPE, f"`{name[:40]}` is no type", _trimmed(source, at, at + len(word)), help=hint)
    return TYPES[name]


def _trimmed(source: Source, start: int, end: int) -> Span:
    """The place without the blanks around it, at least one character."""
    text = source.text
    start = min(start, max(0, len(text) - 1))
    while start < end - 1 and text[start : start + 1].isspace():
        start += 1
    while end > start + 1 and text[end - 1 : end].isspace():
        end -= 1
    return Span(source, start, max(end, start + 1))
