"""A bench that takes times from a record, the measuring times included. It needs no device."""

from collections.abc import Sequence
from contextlib import suppress

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate, Effort, Limits, Outcome, Trial
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.measure.failures import of_candidate
from mdh.tuner.records.key import schedule_meaning

_LEAST = 1e-3
"""The least seconds that a trial takes, so that simulated time never stands still."""


class ReplayBench:
    """A Bench that answers from the trials of a record, one trial at a time, without delay. The latest trial
    of a phase counts. now: seconds since the start of the simulation; each trial advances it."""

    slots = 1

    def __init__(self, trials: Sequence[Trial]) -> None:
        """trials: with readable schedules, except failed ones."""
        self.now = 0.0
        self._quick: dict[str, Outcome] = {}
        self._late: dict[str, Outcome] = {}
        for trial in trials:
            if not of_candidate(trial.outcome):
                continue
            table = self._quick if trial.phase == "quick" else self._late
            # a failed trial may have an unreadable schedule
            with suppress(Failed):
                table[meaning_of(trial.candidate.schedule)] = trial.outcome

    def clock(self) -> float:
        return self.now

    def admits(self, plan: Plan) -> bool:
        """Whether the record has measured it. Nothing else has a time."""
        return meaning_of(plan.text) in self._quick

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        return self._answer(candidate, effort.inputs > 2)

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        return tuple(self._answer(c, True) for c in finalists)

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        """See mdh.tuner.measure.bench.Bench. Nothing is waited for."""
        return 0.0

    async def close(self) -> None:
        """Does nothing, because nothing runs."""

    def _answer(self, candidate: Candidate, thorough: bool) -> Outcome:
        meaning = meaning_of(candidate.schedule)
        outcome = (self._late.get(meaning) if thorough else None) or self._quick.get(meaning)
        if outcome is None:
            # suggestions are proposed whether the record has them or not
            return Outcome(None, innocent=True)
        cost = outcome.build_seconds + outcome.check_seconds + outcome.measure_seconds
        self.now += max(_LEAST, cost)
        return outcome


def meaning_of(schedule: str) -> str:
    return schedule_meaning(parse_schedule(Source("<record>", schedule)))
