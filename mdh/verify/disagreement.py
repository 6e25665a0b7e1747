"""A place where the stages of a program do not compute what its C text says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An element in which the two meanings of a program differ, with the sizes that it was run on."""

    sizes: tuple[tuple[str, int], ...]
    buffer: str
    index: tuple[int, ...]
    by_stages: str
    by_c: str
