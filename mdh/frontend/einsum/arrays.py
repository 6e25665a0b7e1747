"""An einsum text on arrays of known shapes: `...` gets letters, and dimensions of extent 1 are left out where
another operand has more."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.einsum.parser import ELLIPSIS, SYNTAX, Outline, implicit, outline
from mdh.source import Source, Span
from mdh.wording import plural

EXTENT = "E105"
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """text: with a letter for each dimension, and the result. shapes: of the operands as the text has them;
    an operand without dimensions is an array of one element. scalar: whether the result has no dimensions."""

    text: str
    shapes: tuple[Shape, ...]
    scalar: bool


def fitted(text: str, shapes: Sequence[Shape]) -> Fitted:
    """The text for operands of these shapes.

    Dimensions that `...` stands for are the last ones of each operand that has them, and the first of the
    result. As in numpy, an extent of 1 stands for any: the dimension is left out of that operand, which is
    then the same for all values of the letter. Raises Failed E100 to E102, E105.
    """
    source = Source("einsum", text)
    found = outline(source, text)
    if len(found.operands) != len(shapes):
        given = f"{len(shapes)} {'is' if len(shapes) == 1 else 'are'} given"
        headline = f"the text has {plural(len(found.operands), 'operand')}, {given}"
        raise fail(SYNTAX, headline, Span(source, 0, max(1, len(text))), help="give an array for each")
    operands, dots = _without_dots(found, shapes)
    result = found.result
    if result is None:
        result = dots + implicit([one.translate(str.maketrans("", "", dots)) for one in operands])
    elif dots and "..." not in result:
        headline = f"`...` stands for {plural(len(dots), 'dimension')}, and the result leaves it out"
        hint = "write `...` in the result, or letters to sum over"
        raise fail(ELLIPSIS, headline, found.place, help=hint)
    result = result.replace("...", dots)
    sizes = _sizes(found, operands, shapes, dots)
    kept = [
        [(x, n) for x, n in zip(one, shape, strict=True) if n == sizes[x]]
        for one, shape in zip(operands, shapes, strict=True)
    ]
    written = ",".join("".join(x for x, _ in one) for one in kept)
    return Fitted(f"{written}->{result}", tuple(tuple(n for _, n in one) or (1,) for one in kept), not result)


def _without_dots(found: Outline, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """The operands with letters for `...`, and the letters of the longest one."""
    free = [x for x in ascii_letters if x not in "".join(found.operands)]
    parts, most = list[str](), 0
    for n, (part, shape, span) in enumerate(zip(found.operands, shapes, found.spans, strict=True)):
        letters = part.replace("...", "")
        missing = len(shape) - len(letters)
        if missing < 0 or ("..." not in part and missing):
            what = f"operand {n + 1} has {plural(len(shape), 'dimension')}, `{part}` {_letters(len(letters))}"
            hint = "give each dimension a letter, or `...` to several"
            raise fail(ELLIPSIS, what, span, help=hint)
        if missing > len(free):
            raise fail(ELLIPSIS, f"operand {n + 1} has too many dimensions for letters", span)
        most = max(most, missing)
        # the last dimensions of all operands are the same ones
        parts.append(part.replace("...", "".join(free[:missing][::-1])))
    return parts, "".join(free[:most][::-1])


def _sizes(found: Outline, operands: Sequence[str], shapes: Sequence[Shape], dots: str) -> dict[str, int]:
    """The size of each letter: the extent that is not 1, if one is not. Raises Failed E105 for several."""
    first: dict[str, tuple[int, int]] = {}
    for n, (one, shape) in enumerate(zip(operands, shapes, strict=True)):
        for place, (x, extent) in enumerate(zip(one, shape, strict=True)):
            label = Label(_place(found.spans[n], x, dots))
            at, size = first.get(x, (n, extent))
            twice = x in one[:place] and extent != shape[one.index(x)]
            if extent < 1:
                headline = f"{_named(x, dots)} is {extent} in operand {n + 1}"
                raise Failed(Diagnostic(EXTENT, headline, (label,), help="sizes are 1 or more"))
            if twice:
                headline = f"{_named(x, dots)} is {shape[one.index(x)]} and {extent} in operand {n + 1}"
                hint = "a letter that stands twice is a diagonal: both dimensions have one size"
                raise Failed(Diagnostic(EXTENT, headline, (label,), help=hint))
            if 1 not in (extent, size) and extent != size:
                headline = f"{_named(x, dots)} is {size} in operand {at + 1} and {extent} in operand {n + 1}"
                labels = (Label(_place(found.spans[at], x, dots)), label)
                hint = "operands have one size of a letter, or 1"
                raise Failed(Diagnostic(EXTENT, headline, labels, help=hint))
            first[x] = (n, extent) if size == 1 else (at, size)
    return {x: size for x, (_, size) in first.items()}


def _letters(count: int) -> str:
    return "no letters" if not count else plural(count, "letter")


def _named(letter: str, dots: str) -> str:
    return "a dimension of `...`" if letter in dots else f"`{letter}`"


def _place(span: Span, letter: str, dots: str) -> Span:
    """Of the letter in an operand."""
    at = span.source.text.index("." if letter in dots else letter, span.start)
    return Span(span.source, at, at + (3 if letter in dots else 1))
