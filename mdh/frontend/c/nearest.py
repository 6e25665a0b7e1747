"""The known name that a word probably stands for."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_CHARACTERS = 64
MOST_NAMES = 500
"""The most names to compare. A comparison takes as many steps as the product of both lengths."""


def nearest(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name most similar to `word`; None if none is similar. Long words and names are ignored."""
    if len(word) > MOST_CHARACTERS:
        return None
    short = [n for n in names if len(n) <= MOST_CHARACTERS][:MOST_NAMES]
    return next(iter(get_close_matches(word, short, 1, cutoff)), None)
