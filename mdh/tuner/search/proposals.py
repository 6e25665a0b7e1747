"""The searcher: a strategy, and a list of the points that were proposed, here and by other tuners."""

from collections.abc import Set as AbstractSet
from random import Random
from typing import Protocol

from mdh.results.variable import Point
from mdh.tuner.search.space import SearchSpace
from mdh.tuner.search.steps import free_neighbour
from mdh.tuner.search.strategy import Strategy
from mdh.tuner.search.uniform import free_draw, free_scan


class Peers(Protocol):
    """The other tuners that search the same space at the same time."""

    @property
    def claimed(self) -> AbstractSet[Point]:
        """Points that others are measuring now."""

    def news(self) -> list[tuple[Point, float | None]]:
        """What others have finished since the last call. Updates `claimed`."""

    def claim(self, point: Point) -> bool:
        """Claims a point; False if another tuner's claim came first."""

    def tell(self, point: Point, seconds: float | None) -> None:
        """Publishes a result."""


class Alone:
    """No other tuners."""

    claimed: AbstractSet[Point] = frozenset()

    def news(self) -> list[tuple[Point, float | None]]:
        return []

    def claim(self, point: Point) -> bool:
        return True

    def tell(self, point: Point, seconds: float | None) -> None:
        """Does nothing."""


class Taken:
    """Points that were proposed, here or by others."""

    def __init__(self, peers: Peers) -> None:
        self.own: set[Point] = set()
        self._peers = peers

    def __contains__(self, point: object) -> bool:
        return point in self.own or point in self._peers.claimed

    def count(self) -> int:
        return len(self.own | self._peers.claimed) if self._peers.claimed else len(self.own)


class Unwanted:
    """Points that strategies skip: taken ones, other spellings of those, and points that cannot be legal."""

    def __init__(self, taken: Taken, space: SearchSpace) -> None:
        self._taken, self._space = taken, space
        self._spelled: set[tuple[object, ...]] = set()

    def add(self, point: Point) -> None:
        self._taken.own.add(point)
        self._spelled.add(self._space.normal(point))

    def __contains__(self, point: object) -> bool:
        if point in self._taken or not isinstance(point, tuple):
            return True
        return self._space.normal(point) in self._spelled or not self._space.plausible(point)


class Proposals:
    """A Searcher. If the strategy finds no free point, it takes a neighbour of the best known one, then a
    random one."""

    def __init__(self, name: str, space: SearchSpace, strategy: Strategy, rng: Random, peers: Peers) -> None:
        self.name = name
        self._space = space
        self._strategy = strategy
        self._rng = rng
        self._peers = peers
        self._taken = Taken(peers)
        self._unwanted = Unwanted(self._taken, space)
        self._best: tuple[float, Point] | None = None
        self._claimed: set[Point] = set()

    def ask(self) -> Point | None:
        """The next point; None if every point was proposed, here or by others."""
        while True:
            self._hear()
            free = self._free()
            if free is None or self._peers.claim(free):
                break
        if free is not None:
            self._keep(free)
        return free

    def claim(self, point: Point) -> bool:
        """Claims a point that was drawn elsewhere. Points from `ask` are claimed already."""
        if point in self._claimed:
            return True
        self._hear()
        if point in self._taken or not self._peers.claim(point):
            return False
        self._keep(point)
        return True

    def _keep(self, point: Point) -> None:
        self._claimed.add(point)
        self._unwanted.add(point)

    def _hear(self) -> None:
        for point, seconds in self._peers.news():
            self._learn(point, seconds)

    def tell(self, point: Point, seconds: float | None) -> None:
        """Reports the time of any point, also of a default or of a record's results."""
        self._peers.tell(point, seconds)
        self._learn(point, seconds)

    def _learn(self, point: Point, seconds: float | None) -> None:
        if self._space.rank(point) is None:
            return
        self._unwanted.add(point)
        if seconds is not None and (self._best is None or seconds < self._best[0]):
            self._best = (seconds, point)
        self._strategy.learn(point, seconds)

    def _free(self) -> Point | None:
        taken = self._taken
        if taken.count() >= self._space.count:
            return None
        point = self._strategy.suggest(self._unwanted)
        if point is None and self._best is not None:
            point = free_neighbour(self._space, self._best[1], self._rng, self._unwanted)
        if point is None:  # hardly any point is plausible: take any, and let the checker decide
            point = free_draw(self._space, self._rng, taken)
        if point is None:
            point = free_scan(self._space, self._rng, taken)
        return point
