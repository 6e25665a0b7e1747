"""The interfaces of searches: the space of points that they search, the method, and the searcher that the
tuning loop asks."""

from collections.abc import Container, Sequence
from hashlib import sha256
from json import dumps
from random import Random
from typing import Protocol

from mdh.results.trial import Value
from mdh.results.variable import Point, Variable


class SearchSpace(Protocol):
    """All structurally legal points, numbered from 0 to count - 1. mdh.tuner.space implements it."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def count(self) -> int: ...

    def unrank(self, rank: int, /) -> Point: ...

    def rank(self, point: Point, /) -> int | None:
        """The rank of a point; None if it is not a point of this space."""

    def plausible(self, point: Point, /) -> bool:
        """False if its values alone show that the point is not legal; cheap."""

    def amended(self, point: Point, /) -> Point:
        """A plausible point near this one if one is found easily, else the point itself."""

    def normal(self, point: Point, /) -> tuple[object, ...]:
        """Equal for points whose values alone show that they give the same program."""

    def draw(self, rng: Random, /) -> Point:
        """A random point; every point has the same probability."""

    def nearest(self, wish: Sequence[Value | None], /) -> Point:
        """A legal point near the wished one. A legal wish is returned unchanged. None in a wish leaves a
        value open."""


class Strategy(Protocol):
    """A search method. `suggest` and `learn` may come in any order: several points are in flight."""

    def suggest(self, taken: Container[Point]) -> Point | None:
        """A point that is not taken; None if it finds none soon, so that the searcher chooses one."""

    def learn(self, point: Point, seconds: float | None) -> None:
        """Reports the time of a point, suggested or not; None if it failed."""


class Searcher(Protocol):
    """Proposes points of a space. One process owns it."""

    name: str

    def ask(self) -> Point | None:
        """A structurally legal point that was not proposed before; None if the space is used up."""

    def claim(self, point: Point) -> bool:
        """Claims a point from elsewhere that is about to be measured. False if another tuner of the study has
        measured it, or is measuring it."""

    def tell(self, point: Point, seconds: float | None) -> None:
        """Reports the time of a point, asked for or not; None if it failed."""


def fingerprint(space: SearchSpace) -> str:
    """Sixteen hex digits, equal in every process that searches the same variables and points."""
    shown = [[v.name, str(v.kind), list(v.values), v.dim, v.extent, v.stage, v.step] for v in space.variables]
    return sha256(dumps([space.count, shown]).encode()).hexdigest()[:16]
