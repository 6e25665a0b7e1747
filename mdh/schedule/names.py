"""Names of layers, axes and regions, the other papers' words for them, and the nearest known word."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

from mdh.schedule.model import CORE_LAYERS, REGIONS

REGION_ALIASES = {
    "MM": "DM", "GM": "DM", "DEV": "DM",
    "L3": "SM", "L2": "SM", "LM": "SM", "SHR": "SM", "L1": "SM",
    "PM": "RM", "REG": "RM",
}  # fmt: skip
LAYER_ALIASES = {
    "GPU": "DEV",
    "SMX": "BLK", "CU": "BLK", "WG": "BLK", "COR": "BLK",
    "CC": "THR", "PE": "THR", "WI": "THR",
    "SIMD": "VEC",
}  # fmt: skip
AXES = ("x", "y", "z")
MMA_AXES = ("m", "n", "k")
KEYWORDS = ("stage", "where", "target", "program")


def region_of(word: str) -> str | None:
    """The canonical region of a word, None where it names none."""
    return word if word in REGIONS else REGION_ALIASES.get(word)


def layer_of(word: str) -> str | None:
    """The canonical core layer of a word, None where it names none."""
    return word if word in CORE_LAYERS else LAYER_ALIASES.get(word)


def axes_of(layer: str) -> tuple[str, ...]:
    return MMA_AXES if layer == "MMA" else AXES


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?` for a word that is close to a known one, else empty."""
    return _nearest(word[:80], tuple(known))


@lru_cache(maxsize=256)
def _nearest(word: str, words: tuple[str, ...]) -> str:
    """A damaged text asks the same thousands of times, and each answer takes a fraction of a millisecond."""
    cutoff = 0.5 if len(word) < 4 else 0.6
    exact = [w for w in words if w.lower() == word.lower()]
    close = (
        exact
        or get_close_matches(word, words, 1, cutoff)
        or get_close_matches(word.upper(), words, 1, cutoff)
    )
    return f"did you mean `{close[0]}`?" if close else ""


def listed(words: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    quoted = [f"`{w}`" for w in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
