"""`exhaustive`: proposes every point once, in order; for small spaces and full tables of times."""

from collections.abc import Container
from random import Random

from mdh.results.variable import Point
from mdh.tuner.search.space import SearchSpace


class Exhaustive:
    def __init__(self, space: SearchSpace, rng: Random) -> None:
        self._space = space
        self._next = 0

    def suggest(self, taken: Container[Point]) -> Point | None:
        while self._next < self._space.count:
            point = self._space.unrank(self._next)
            self._next += 1
            if point not in taken:
                return point
        return None

    def learn(self, point: Point, seconds: float | None) -> None:
        """Ignores times: the order does not depend on them."""
