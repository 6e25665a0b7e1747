"""What a search needs of a space of points; mdh.tuner.space has it."""

from collections.abc import Sequence
from hashlib import sha256
from json import dumps
from random import Random
from typing import Protocol

from mdh.results.trial import Value
from mdh.results.variable import Point, Variable


class Space(Protocol):
    """All structurally legal points, numbered from 0 to count - 1."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def count(self) -> int: ...

    def unrank(self, rank: int, /) -> Point: ...

    def rank(self, point: Point, /) -> int | None:
        """None: not a point of this space."""

    def plausible(self, point: Point, /) -> bool:
        """False where its values alone show that the point is not legal; cheap."""

    def amended(self, point: Point, /) -> Point:
        """A plausible point near this one, where there is one at hand; else the point itself."""

    def normal(self, point: Point, /) -> tuple[object, ...]:
        """Equal for points whose values alone show that they say the same program."""

    def draw(self, rng: Random, /) -> Point:
        """Every point with the same probability."""

    def nearest(self, wish: Sequence[Value | None], /) -> Point:
        """A legal point near the wished one; a legal wish comes back as it is. None: no wish."""


def fingerprint(space: Space) -> str:
    """Sixteen hex digits; the same in every process that searches the same variables and points."""
    shown = [[v.name, str(v.kind), list(v.values), v.dim, v.extent, v.stage, v.step] for v in space.variables]
    return sha256(dumps([space.count, shown]).encode()).hexdigest()[:16]
