"""Searches that learn nothing from times."""

from collections.abc import Container
from random import Random

from mdh.results.variable import Point
from mdh.tuner.search.interfaces import SearchSpace

DRAWS = 32
"""Draws before the space is scanned. If more than half of the space is free, so many fail once in four
billion times."""

PATIENCE = 8
"""Draws that are rejected before implausible points are amended."""


class Uniform:
    """`random`: proposes every point of the exact space with the same probability, none twice."""

    def __init__(self, space: SearchSpace, rng: Random) -> None:
        self._space = space
        self._rng = rng

    def suggest(self, taken: Container[Point]) -> Point | None:
        return free_draw(self._space, self._rng, taken)

    def learn(self, point: Point, seconds: float | None) -> None:
        """Ignores times."""


class Exhaustive:
    """`exhaustive`: proposes every point once, in order; for small spaces and full tables of times."""

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
        """Ignores times."""


def free_draw(space: SearchSpace, rng: Random, taken: Container[Point]) -> Point | None:
    """A uniform draw among the free points; None if most of the space is taken. If hardly any point is
    plausible, a plausible one near a draw."""
    for n in range(DRAWS):
        point = space.draw(rng)
        if n >= PATIENCE and not space.plausible(point):
            point = space.amended(point)
        if point not in taken:
            return point
    return None


def free_scan(space: SearchSpace, rng: Random, taken: Container[Point]) -> Point | None:
    """The first free point from a random rank on, through the whole space; None if there is none."""
    start = rng.randrange(space.count) if space.count else 0
    points = (space.unrank((start + step) % space.count) for step in range(space.count))
    return next((point for point in points if point not in taken), None)
