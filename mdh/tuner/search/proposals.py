"""The searcher: a strategy, and a list of the points that were proposed, here and by other tuners."""

from collections.abc import Set as AbstractSet
from random import Random
from typing import TYPE_CHECKING

from mdh.results.variable import Point
from mdh.tuner.search.interfaces import SearchSpace, Strategy
from mdh.tuner.search.steps import free_neighbour
from mdh.tuner.search.uniform import free_draw, free_scan

if TYPE_CHECKING:
    from mdh.tuner.search.shared import SharedStudy


class Unwanted:
    """Points that strategies skip: those that were proposed, here or by others, other spellings of those, and
    points that cannot be legal."""

    def __init__(self, space: SearchSpace, peers: "SharedStudy | None") -> None:
        self._space, self._peers = space, peers
        self._own: set[Point] = set()
        self._spelled: set[tuple[object, ...]] = set()

    @property
    def taken(self) -> AbstractSet[Point]:
        """Points that were proposed, here or by others."""
        others = self._peers.claimed if self._peers else None
        return self._own | others if others else self._own

    def add(self, point: Point) -> None:
        self._own.add(point)
        self._spelled.add(self._space.normal(point))

    def __contains__(self, point: object) -> bool:
        if (
            point in self._own
            or not isinstance(point, tuple)
            or (self._peers and point in self._peers.claimed)
        ):
            return True
        return self._space.normal(point) in self._spelled or not self._space.plausible(point)


class Proposals:
    """A Searcher. If the strategy finds no free point, it takes a neighbour of the best known one, then a
    random one."""

    def __init__(
        self, name: str, space: SearchSpace, strategy: Strategy, rng: Random, peers: "SharedStudy | None"
    ) -> None:
        """peers: the other tuners that search the same space at the same time."""
        self.name = name
        self._space = space
        self._strategy = strategy
        self._rng = rng
        self._peers = peers
        self._unwanted = Unwanted(space, peers)
        self._best: tuple[float, Point] | None = None
        self._claimed: set[Point] = set()

    def ask(self) -> Point | None:
        """The next point; None if every point was proposed, here or by others."""
        while True:
            self._hear()
            free = self._free()
            if free is None or self._peers is None or self._peers.claim(free):
                break
        if free is not None:
            self._keep(free)
        return free

    def claim(self, point: Point) -> bool:
        """Claims a point that was drawn elsewhere. Points from `ask` are claimed already."""
        if point in self._claimed:
            return True
        self._hear()
        if point in self._unwanted.taken or not (self._peers is None or self._peers.claim(point)):
            return False
        self._keep(point)
        return True

    def _keep(self, point: Point) -> None:
        self._claimed.add(point)
        self._unwanted.add(point)

    def _hear(self) -> None:
        for point, seconds in self._peers.news() if self._peers else ():
            self._learn(point, seconds)

    def tell(self, point: Point, seconds: float | None) -> None:
        """Reports the time of any point, also of a default or of a record's results."""
        if self._peers is not None:
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
        taken = self._unwanted.taken
        if len(taken) >= self._space.count:
            return None
        point = self._strategy.suggest(self._unwanted)
        if point is None and self._best is not None:
            point = free_neighbour(self._space, self._best[1], self._rng, self._unwanted)
        if point is None:  # hardly any point is plausible: take any, and let the checker decide
            point = free_draw(self._space, self._rng, taken)
        if point is None:
            point = free_scan(self._space, self._rng, taken)
        return point
