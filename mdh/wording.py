"""Phrases that many messages have."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_CHARACTERS = 64
MOST_NAMES = 500
"""The most names to compare. A comparison takes as many steps as the product of both lengths."""


def meant(
    word: str, known: Iterable[str], *, cutoff: float = 0.5, always: str = "", otherwise: str = ""
) -> str:
    """`did you mean …?` for the known name that is most like `word`, else `otherwise`; then `always`. Long
    words and names are not looked at."""
    short = [n for n in known if len(n) <= MOST_CHARACTERS][:MOST_NAMES]
    near = get_close_matches(word, short, 1, cutoff) if len(word) <= MOST_CHARACTERS else []
    first = f"did you mean `{near[0]}`?" if near else otherwise
    return f"{first} {always}".strip()


def plural(n: int, noun: str) -> str:
    """`1 part`, `2000 parts`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def counted(n: int, noun: str) -> str:
    """`1 part`, `2,000 parts`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
