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


class SimulatedClock:
    """Seconds since the start of the simulation. Each trial advances it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class TrialTable:
    """The trials of a record by the meaning of their schedules; the latest trial of a phase counts. trials:
    with readable schedules, except failed ones."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        self._quick: dict[str, Outcome] = {}
        self._late: dict[str, Outcome] = {}
        for trial in trials:
            if not of_candidate(trial.outcome):
                continue
            table = self._quick if trial.phase == "quick" else self._late
            # a failed trial may have an unreadable schedule
            with suppress(Failed):
                table[meaning_of(trial.candidate.schedule)] = trial.outcome

    def find(self, schedule: str, *, thorough: bool) -> Outcome | None:
        meaning = meaning_of(schedule)
        late = self._late.get(meaning) if thorough else None
        return late or self._quick.get(meaning)


def meaning_of(schedule: str) -> str:
    return schedule_meaning(parse_schedule(Source("<record>", schedule)))


class Recorded:
    """Admits only what the record has measured, because nothing else has a time."""

    reason = "not in the record"

    def __init__(self, table: TrialTable) -> None:
        self._table = table

    def admits(self, plan: Plan) -> bool:
        return self._table.find(plan.text, thorough=False) is not None


class ReplayBench:
    """A Bench that answers from a record, one trial at a time, without delay."""

    slots = 1

    def __init__(self, table: TrialTable, clock: SimulatedClock) -> None:
        self._table, self._clock = table, clock

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        return self._answer(candidate, effort.inputs > 2)

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        return tuple(self._answer(c, True) for c in finalists)

    async def close(self) -> None:
        """Does nothing, because nothing runs."""

    def _answer(self, candidate: Candidate, thorough: bool) -> Outcome:
        outcome = self._table.find(candidate.schedule, thorough=thorough)
        if outcome is None:
            # suggestions are proposed whether the record has them or not
            return Outcome(None, innocent=True)
        cost = outcome.build_seconds + outcome.check_seconds + outcome.measure_seconds
        self._clock.now += max(_LEAST, cost)
        return outcome
