"""The interface of the part that measures candidates, as the tuning loop uses it."""

from typing import Protocol

from mdh.results.trial import Candidate, Effort, Limits, Outcome


class Bench(Protocol):
    """Builds, judges and measures candidates of one Job, on local workers or a cluster.

    slots: trials that may be in flight at once so that neither compilers nor devices wait.
    """

    slots: int

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        """Measures one candidate. Never raises for what a candidate does. Raises Failed if nothing can be
        measured any more: the device is lost (D1xx), or the cluster is gone."""

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        """Times the finalists in one process, interleaved, so that clock drift affects all equally."""

    async def close(self) -> None:
        """Ends every process within two seconds."""
