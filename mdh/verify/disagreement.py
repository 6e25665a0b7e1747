"""Where the stages of a program do not compute what its C text says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An element that the two meanings of a program do not agree about, with the sizes that it was run on."""

    sizes: tuple[tuple[str, int], ...]
    buffer: str
    index: tuple[int, ...]
    by_stages: str
    by_c: str
