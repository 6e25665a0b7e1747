"""The interface of the part that measures candidates, as the tuning loop uses it, and what it measures on."""

from dataclasses import dataclass
from typing import Protocol

from mdh.machine import Machine
from mdh.results.trial import Candidate, Effort, Limits, Outcome


@dataclass(frozen=True, slots=True)
class Ground:
    """The device that candidates are measured on, or several of one model. versions: of mdh, compilers,
    runtime and driver."""

    machine: Machine
    target: str
    title: str
    versions: tuple[tuple[str, str], ...]


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

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        """Seconds, as far as known, that finals of these would wait before they are loaded: for compilers,
        for results that are still to be computed, and for fresh processes. 0 if nothing is known."""

    async def close(self) -> None:
        """Ends every process within two seconds."""
