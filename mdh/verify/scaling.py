"""Makes a program with short loops from a given one: large numbers of the C text become small ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from mdh.frontend.bound import BoundText

_NUMBER = re.compile(
    r"^[ \t]*#.*$|\"[^\"\n]*\"|'[^'\n]*'"
    r"|(?<![\w.])(0[xX][0-9a-fA-F]+|0[0-7]+|[1-9][0-9]*)(?=[uUlL]{0,3}(?![\w.]))",
    re.M,
)
NEAR = 8
"""Numbers whose difference is smaller than this keep their difference, like N and N - 1."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A way to shrink numbers. A number above `least` becomes the next one from `base` on with the same
    remainder modulo `rest`; the order of numbers is kept."""

    base: int
    rest: int
    least: int


LADDER = (Scale(5, 4, 8), Scale(3, 4, 8), Scale(2, 2, 4), Scale(1, 1, 3), Scale(9, 4, 12), Scale(17, 8, 24),
          Scale(33, 16, 40), Scale(5, 4, 1000), Scale(65, 4, 1000), Scale(3, 2, 4))  # fmt: skip
"""These are tried one after another, until the small program has the stages of the large one. Those with 1000
keep texts with many different numbers as they are: they shrink only what is certainly an extent. The last is
for programs that need more room than the third gives, and run too long in that of the second."""


def scaled(text: BoundText, scale: Scale) -> BoundText:
    """`text` with small sizes, and the same small numbers in its text."""
    found = (_value(m[1]) for m in _NUMBER.finditer(text.text) if m[1])
    small = _small(sorted({n for n in (*found, *text.sizes.values()) if n > scale.least}), scale)

    def number(m: re.Match[str]) -> str:
        n = None if m[1] is None else small.get(_value(m[1]))
        return m[0] if n is None else str(n)

    sizes = {name: small.get(n, n) for name, n in text.sizes.items()}
    return replace(text, text=_NUMBER.sub(number, text.text), sizes=sizes, cropped=True)


def _value(literal: str) -> int:
    """The value of a decimal, octal or hexadecimal number without its suffix."""
    return int(literal, 16 if literal[1:2] in ("x", "X") else 8 if literal[0] == "0" else 10)


def _small(numbers: list[int], scale: Scale) -> dict[int, int]:
    return dict(zip(numbers, _grown(numbers, scale), strict=True))


def _grown(numbers: list[int], scale: Scale) -> Iterator[int]:
    """The small numbers for `numbers`, which are ascending."""
    last = scale.base - 1
    for before, n in pairwise((None, *numbers)):
        assert n is not None
        if before is not None and n - before < NEAR:
            last += n - before
        else:
            last += 1
            last += (n - last) % scale.rest
        yield last
