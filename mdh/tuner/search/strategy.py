"""The inner part of a searcher: proposes where to look next."""

from collections.abc import Container
from typing import Protocol

from mdh.results.variable import Point


class Strategy(Protocol):
    """A search method. `suggest` and `learn` may come in any order: several points are in flight."""

    def suggest(self, taken: Container[Point]) -> Point | None:
        """A point that is not taken; None if it finds none soon, so that the searcher chooses one."""

    def learn(self, point: Point, seconds: float | None) -> None:
        """Reports the time of a point, suggested or not; None if it failed."""
