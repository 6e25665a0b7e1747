"""Texts damaged at random: what parsers must refuse, or read, in good order."""

import re
from collections.abc import Sequence
from random import Random

from mdh.hardware import Space

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_NOISE = (
    "(", ")", "{", "}", "[", "]", ";", ",", "?", "^", "@", ":", "=", "+=", "*", "/", "%", "&", "\\", '"', "'",
    "/*", "//", "#", "0", "-1", "99999999999999999999", "1e400", "0x", "for", "if", "int", "float", "A",
    "stage", "where", "target", Space.SM, "THR.x", "FOR.0", "\0", "\u00e9", "\U0001f600", "\t", "\r", "\n\n",
    "goto", "#define A A", "#include <x.h>", "#pragma mdh(", "while (1)", "return", "(de-)comp",
    "(de/re)-comp", "@pad(?)", "?{1,2}", "C:RM[1,2]",
)  # fmt: skip


def mutate(rng: Random, text: str, others: Sequence[str]) -> str:
    """`text` after one to four changes of tokens, bytes or lines; `others` lend pieces."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = _change(rng, text, others)
    return text


def _change(rng: Random, text: str, others: Sequence[str]) -> str:
    words = _TOKEN.findall(text) or [""]
    at = rng.randrange(len(words))
    match rng.randint(0, 9):
        case 0:
            del words[at]
        case 1:
            words.insert(at, rng.choice(_NOISE))
        case 2:
            words[at] = rng.choice(_NOISE)
        case 3:
            other = rng.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        case 4:
            words.insert(at, words[rng.randrange(len(words))])
        case 5:
            return text[: rng.randrange(len(text) + 1)]
        case 6:
            lines = text.splitlines(keepends=True) or [""]
            n = rng.randrange(len(lines))
            return "".join(lines[:n] + lines[n : n + 1] * rng.choice((0, 2, 3)) + lines[n + 1 :])
        case 7:
            here = rng.randrange(len(text) + 1)
            return text[:here] + chr(rng.choice((0, 9, 34, 40, 123, 127, 233, 0x2028))) + text[here:]
        case 8:
            piece = rng.choice(others).splitlines(keepends=True) or [""]
            words.insert(at, rng.choice(piece))
        case _:
            words[at] *= rng.choice((2, 50, 400))
    return "".join(words)
