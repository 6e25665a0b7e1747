"""The space as values: its variables, one for each hole or shared name, and its points."""

from dataclasses import dataclass
from enum import StrEnum

from mdh.results.trial import Value


class Metric(StrEnum):
    """How the distance of two values of a variable is measured: by ratio, by difference, or not at all."""

    TILE = "tile"
    NUMBER = "number"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Variable:
    """One decision that the schedule leaves open.

    name: `?bm`, or the place of an unnamed hole (`2.tile.i`, `C.3.core.j`, `1.order`); unique in the space.
    values: every value that it has in some point, in order (numbers ascending). dim, extent: of a tile.
    """

    name: str
    kind: Metric
    values: tuple[Value, ...]
    dim: str = ""
    extent: int = 0
    stage: str = ""
    step: int = 0


Point = tuple[Value, ...]
"""One value for each variable, in the order of the space's variables."""
