"""The interface of a space of points, as searches use it. mdh.tuner.space implements it."""

from collections.abc import Sequence
from hashlib import sha256
from json import dumps
from random import Random
from typing import Protocol

from mdh.results.trial import Value
from mdh.results.variable import Point, Variable


class SearchSpace(Protocol):
    """All structurally legal points, numbered from 0 to count - 1."""

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


def fingerprint(space: SearchSpace) -> str:
    """Sixteen hex digits, equal in every process that searches the same variables and points."""
    shown = [[v.name, str(v.kind), list(v.values), v.dim, v.extent, v.stage, v.step] for v in space.variables]
    return sha256(dumps([space.count, shown]).encode()).hexdigest()[:16]
