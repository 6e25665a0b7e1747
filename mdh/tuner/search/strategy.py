"""The inner part of a searcher: where to look next, whatever was proposed before."""

from collections.abc import Container
from typing import Protocol

from mdh.results.variable import Point


class Strategy(Protocol):
    """suggest and learn may come in any order: several points are in flight at once."""

    def suggest(self, taken: Container[Point]) -> Point | None:
        """A point that is not taken; None where it finds none soon, and the searcher looks elsewhere."""

    def learn(self, point: Point, seconds: float | None) -> None:
        """The time of a point, suggested or not; None: it failed."""
