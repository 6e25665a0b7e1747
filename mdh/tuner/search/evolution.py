"""`evolution`: regularised evolution over the exact space (Real et al., AAAI 2019).

The population holds the latest timed points and the best ones of all. Of a random sample of the population
the best point is changed in one variable. Times that are learned before the first draw, such as those of an
earlier record, are members of the first population: fewer points are drawn then.
"""

from collections import deque
from collections.abc import Container
from random import Random

from mdh.results.variable import Point
from mdh.tuner.search.interfaces import SearchSpace
from mdh.tuner.search.steps import free_neighbour
from mdh.tuner.search.uniform import free_draw

POPULATION = 24
SAMPLE = 16
START = 8
"""The size of the first population: points are drawn uniformly until so many were drawn or have a time."""
ELITE = 4
"""The best of all time that stay in the population, whatever their age."""


class Evolution:
    def __init__(self, space: SearchSpace, rng: Random) -> None:
        self._space = space
        self._rng = rng
        self._young: deque[tuple[float, Point]] = deque(maxlen=POPULATION)
        self._elite: list[tuple[float, Point]] = []
        self._drawn = self._timed = 0

    def suggest(self, taken: Container[Point]) -> Point | None:
        if max(self._drawn, self._timed) < START or not self._young:
            self._drawn += 1
            return free_draw(self._space, self._rng, taken)
        pool = sorted({*self._young, *self._elite}, key=lambda entry: (entry[0], repr(entry[1])))
        chosen = min(self._rng.randrange(len(pool)) for _ in range(SAMPLE))
        return free_neighbour(self._space, pool[chosen][1], self._rng, taken)

    def learn(self, point: Point, seconds: float | None) -> None:
        if seconds is None:
            return
        self._timed += 1
        self._young.append((seconds, point))
        self._elite = sorted([*self._elite, (seconds, point)], key=lambda e: e[0])[:ELITE]
