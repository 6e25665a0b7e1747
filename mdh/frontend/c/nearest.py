"""The known name that a word was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_CHARACTERS = 64
MOST_NAMES = 500
"""Comparing two words takes as many steps as the product of their lengths, for each of the names."""


def nearest(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name most like `word`, None where none is; long words and names are not looked at."""
    if len(word) > MOST_CHARACTERS:
        return None
    short = [n for n in names if len(n) <= MOST_CHARACTERS][:MOST_NAMES]
    return next(iter(get_close_matches(word, short, 1, cutoff)), None)
