"""What the tuning loop asks of the part that measures candidates."""

from typing import Protocol

from mdh.results.trial import Candidate, Effort, Limits, Outcome


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
