"""Damages texts at random: characters, words and lines go, come twice, change places, or are others."""

import re
from collections.abc import Callable
from random import Random

from tests.languages.pools import ODD, OF_A_KIND, SPECIAL

_WORDS = re.compile(r"\w+|[^\w\s]|\s+")
_CHARACTERS = "(){}[],;:.?!=+-*/%<>&|^~#'\"\\@$`_ \n\t09azT→"


def damaged(rng: Random, text: str, others: list[str]) -> str:
    """The text after one to four changes. others: texts that pieces are taken from."""
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        text = rng.choice(_CHANGES)(rng, text, others)
    return text


def _characters(rng: Random, text: str, others: list[str]) -> str:
    a = rng.randrange(len(text) + 1)
    b = min(len(text), a + rng.choice((0, 1, 1, 2, 5)))
    new = rng.choice(("", rng.choice(_CHARACTERS), rng.choice(ODD), text[a:b] * 2, text[a:b][::-1]))
    return text[:a] + new + text[b:]


def _words(rng: Random, text: str, others: list[str]) -> str:
    words = _WORDS.findall(text) or [" "]
    n, m = rng.randrange(len(words)), rng.randrange(len(words))
    way = rng.randrange(6)
    if way == 0:
        del words[n]
    elif way == 1:
        words[n] += f" {words[n]}"
    elif way == 2:
        words[n], words[m] = words[m], words[n]
    elif way == 3:
        words[n] = words[m]
    elif way == 4:
        words[n] = rng.choice(SPECIAL)
    else:
        words.insert(n, f" {rng.choice(SPECIAL)} ")
    return "".join(words)


def _lines(rng: Random, text: str, others: list[str]) -> str:
    lines = text.splitlines(keepends=True) or [" "]
    n, m = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(4)
    if way == 0:
        del lines[n]
    elif way == 1:
        lines.insert(m, lines[n])
    elif way == 2:
        lines[n], lines[m] = lines[m], lines[n]
    else:
        lines.insert(n, rng.choice(rng.choice(others).splitlines() or [""]) + "\n")
    return "".join(lines)


def _cut(rng: Random, text: str, others: list[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice((text[:at], text[at:], text[:at] + rng.choice(others), text + text))


def _many(rng: Random, text: str, others: list[str]) -> str:
    """A word or a few, up to 10,000 times, or nested."""
    words = _WORDS.findall(text) or [" "]
    n = rng.randrange(len(words))
    count = rng.choice((20, 99, 101, 300, 10_000))
    piece = "".join(words[n : n + rng.choice((1, 1, 2, 4, 8))])
    pair = rng.choice(
        (("(", ")"), ("-", ""), ("max(1,", ")"), ("A(", ")"), ("RELU(", ")"), ("1?", ":1"), ("f(", ""))
    )
    new = rng.choice((piece * count, f"{piece} " * count, pair[0] * count + words[n] + pair[1] * count))
    return "".join([*words[:n], new, *words[n + 1 :]])


_CHANGES: tuple[Callable[[Random, str, list[str]], str], ...] = (
    _characters, _characters, _characters, _words, _words, _words, _words, _lines, _lines, _cut, _many,
)  # fmt: skip


_OPERATORS = re.compile(r"[-+*/%<>=!&|^]+|(?:min|max)=!?")


def varied(rng: Random, text: str) -> str:
    """The text with one to three words replaced by others of their kind."""
    words = re.findall(rf"{_OPERATORS.pattern}|[\w.]+|\s+|.", text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        n = rng.randrange(len(words))
        same = next((kind for kind in OF_A_KIND if words[n] in kind), None)
        if same is None and words[n].isidentifier():
            same = tuple(w for w in words if w.isidentifier())
        elif same is None and words[n][0].isdigit():
            same = OF_A_KIND[2]
        words[n] = rng.choice(same or (words[n],))
    return "".join(words)
