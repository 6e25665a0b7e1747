"""The two parts that the tuning loop joins: what proposes candidates, and what measures them."""

from typing import Protocol

from mdh.tune.space.model import Point
from mdh.tune.values import Candidate, Effort, Limits, Outcome


class Bench(Protocol):
    """Builds, judges and measures candidates of one Job: local workers, or a cluster.

    slots: trials that may be in flight at once so that neither the compilers nor the devices wait.
    """

    slots: int

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        """Never raises for what a candidate does. Raises Failed where nothing can be measured any more: the
        device is lost (D1xx), the cluster is gone."""

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        """The finalists in one process, their timed runs interleaved so that a change of clock meets all."""

    async def close(self) -> None:
        """End every process, at the latest after two seconds."""


class Searcher(Protocol):
    """Proposes points of a space; owned by one process."""

    name: str

    def ask(self) -> Point | None:
        """A structurally legal point that was not proposed before; None: the space is used up."""

    def claim(self, point: Point) -> bool:
        """Announces a point from elsewhere that is about to be measured. False where another tuner of the
        same study measures it, or has."""

    def tell(self, point: Point, seconds: float | None) -> None:
        """The time of a point, asked for or not; None where it failed."""
