"""Parses an einsum text: letters of each operand and of the result, and the type of the elements.

    bmk,bkn->bmn            products of matrices, in float
    ij,jk,kl->il : double   three factors, in double

Source of the grammar: numpy.einsum. A letter that stands twice in an operand means its diagonal. Without
`->`, the result has the letters that stand once, in alphabetical order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

from mdh.diagnostics import fail
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


def parse(source: Source) -> Einsum:
    """Raises Failed E100 to E103."""
    text = source.text
    if len(text) > MOST_CHARACTERS:
        raise fail(SYNTAX, f"the text has more than {MOST_CHARACTERS:,} characters", Span(source, 0, 1))
    body, colon, word = text.partition(":")
    kind = _kind(source, word, len(body) + 1) if colon else F32
    left, arrow, right = body.partition("->")
    _check(source, body)
    operands, spans, at = list[str](), list[Span](), 0
    for part in left.split(","):
        letters = re.sub(r"\s", "", part)
        span = _trimmed(source, at, at + len(part))
        if not letters:
            raise fail(
                SYNTAX, "an operand has no letters", span, help="write a letter for each of its dimensions"
            )
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
    result = re.sub(r"\s", "", right) if arrow else _implicit(operands)
    for n, letter in enumerate(result):
        if letter in result[:n]:
            raise fail(
                RESULT, f"`{letter}` stands twice in the result", place, help="name each dimension once"
            )
        if not any(letter in one for one in operands):
            raise fail(
                RESULT,
                f"`{letter}` stands in no operand",
                place,
                help="leave it out, or give it to an operand",
            )
    return Einsum(tuple(operands), result, kind, tuple(spans), place)


def explicit(text: str, ranks: Sequence[int]) -> str:
    """The text with letters for `...`, and with its result. ranks: numbers of dimensions of the operands.
    Dimensions that `...` stands for are the last ones of each operand that has them, and the first of the
    result. Raises Failed E100 to E102."""
    source = Source("einsum", text)
    operands, arrow, result = re.sub(r"\s", "", text).partition("->")
    parts = operands.split(",")
    if len(parts) != len(ranks):
        raise fail(
            SYNTAX, f"there are {len(parts)} operands in the text, {len(ranks)} are given", _all(source)
        )
    free = [x for x in ascii_letters if x not in text]
    most = 0
    for n, (part, rank) in enumerate(zip(parts, ranks, strict=True)):
        letters, missing = part.replace("...", ""), rank - len(part.replace("...", ""))
        if missing < 0 or ("..." not in part and missing) or part.count("...") > 1:
            what = f"operand {n + 1} has {rank} dimensions, `{part}` {len(letters)} letters"
            raise fail(ELLIPSIS, what, _all(source), help="give each dimension a letter, or `...` to several")
        if missing > len(free):
            raise fail(ELLIPSIS, f"operand {n + 1} has too many dimensions for letters", _all(source))
        most = max(most, missing if "..." in part else 0)
        # the last dimensions of all operands are the same ones
        parts[n] = part.replace("...", "".join(free[:missing][::-1]))
    dots = "".join(free[:most][::-1])
    if not arrow:
        result = dots + _implicit([p.translate(str.maketrans("", "", dots)) for p in parts])
    return f"{','.join(parts)}->{result.replace('...', dots)}"


def _all(source: Source) -> Span:
    return Span(source, 0, max(1, len(source.text)))


def _check(source: Source, body: str) -> None:
    """Raises Failed E100, E102 for characters that the grammar has not."""
    dots = body.find(".")
    if dots >= 0:
        what = "`...` stands for dimensions whose number is not known here"
        hint = "write letters; `mdh.einsum` in Python knows the arrays and takes `...`"
        raise fail(ELLIPSIS, what, Span(source, dots, dots + 1), help=hint)
    arrows = body.count("->")
    rest = body.replace("->", "  ", 1)
    for n, char in enumerate(rest):
        if not (char.isascii() and char.isalpha()) and char != "," and not char.isspace():
            what = "a second `->`" if arrows > 1 and rest[n : n + 2] == "->" else f"`{char}`"
            said = "operands are separated by commas, and the result stands behind `->`"
            raise fail(SYNTAX, f"{what} has no meaning here", Span(source, n, n + 1), help=said)
    if "," in body.partition("->")[2]:
        at = body.rindex(",")
        raise fail(SYNTAX, "there is one result", Span(source, at, at + 1))


def _kind(source: Source, word: str, at: int) -> DType:
    name = word.strip()
    if name not in TYPES:
        hint = meant(name, TYPES, cutoff=0.6, otherwise=f"types: {', '.join(TYPES)}")
        raise fail(TYPE, f"`{name[:40]}` is no type", _trimmed(source, at, at + len(word)), help=hint)
    return TYPES[name]


def _implicit(operands: list[str]) -> str:
    every = "".join(operands)
    return "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))


def _trimmed(source: Source, start: int, end: int) -> Span:
    """The place without the blanks around it, at least one character."""
    text = source.text
    start = min(start, max(0, len(text) - 1))
    while start < end - 1 and text[start : start + 1].isspace():
        start += 1
    while end > start + 1 and text[end - 1 : end].isspace():
        end -= 1
    return Span(source, start, max(end, start + 1))
