"""Names of layers, axes and regions, with the aliases that other papers use, and the nearest known word."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

from mdh.hardware import Layer, Space

REGION_ALIASES = {
    "MM": Space.DM, "GM": Space.DM, "DEV": Space.DM,
    "L3": Space.SM, "L2": Space.SM, "LM": Space.SM, "SHR": Space.SM, "L1": Space.SM,
    "PM": Space.RM, "REG": Space.RM,
}  # fmt: skip
LAYER_ALIASES = {
    "GPU": Layer.DEV,
    "SMX": Layer.BLK, "CU": Layer.BLK, "WG": Layer.BLK, "COR": Layer.BLK,
    "CC": Layer.THR, "PE": Layer.THR, "WI": Layer.THR,
    "SIMD": Layer.VEC,
}  # fmt: skip
_REGIONS = {str(region): region for region in Space} | REGION_ALIASES
_LAYERS = {str(layer): layer for layer in Layer} | LAYER_ALIASES
AXES = ("x", "y", "z")
MMA_AXES = ("m", "n", "k")
KEYWORDS = ("stage", "loop", "fuse", "where", "target", "program", "for", "small", "over")


def region_of(word: str) -> Space | None:
    """The memory region of a word or alias; None if it is neither."""
    return _REGIONS.get(word)


def layer_of(word: str) -> Layer | None:
    """The core layer of a word or alias; None if it is neither."""
    return _LAYERS.get(word)


def axes_of(layer: Layer) -> tuple[str, ...]:
    return MMA_AXES if layer is Layer.MMA else AXES


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?` for a word that is similar to a known one, else an empty text."""
    return _nearest(word[:80], tuple(known))


@lru_cache(maxsize=256)
def _nearest(word: str, words: tuple[str, ...]) -> str:
    """Cached: a damaged text asks for the same words thousands of times, and an answer takes a fraction of a
    millisecond."""
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
