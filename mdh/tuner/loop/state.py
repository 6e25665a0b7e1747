"""What a tuning run works with and what it has found so far."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from mdh.diagnostics import Diagnostic
from mdh.results.goal import Goal
from mdh.results.trial import Candidate, Failure, Limits, Outcome, Trial
from mdh.results.tuning import RunProgress
from mdh.tuner.candidates.proposals import CandidateQueue, Proposal
from mdh.tuner.measure.bench import Bench
from mdh.tuner.runtime.background import BackgroundThread
from mdh.tuner.runtime.interrupt import Interrupt


class Log(Protocol):
    """Where trials are kept; a trial is on disk when `append` returns."""

    def append(self, trial: Trial) -> None: ...


class Watch(Protocol):
    """Told of every trial and phase; what the user sees while a run goes on."""

    def __call__(self, progress: RunProgress, trial: Trial | None, /) -> None: ...


def _keep_all(keys: tuple[str, ...]) -> None:
    """For benches that keep nothing."""


@dataclass
class Run:
    """What a run works with and what it has found so far.

    limits: what kills a worker; drop: told of candidates whose machine code is not needed again.
    found: called with each better trial before anybody is told of it, and with what is left when the best
    proves wrong; clock: seconds, of no particular start; first: the number of the first trial; earlier:
    quick trials of the record that this run goes on with; started: when the
    budget began, None: with the search.
    """

    bench: Bench
    proposals: CandidateQueue
    log: Log
    goal: Goal
    interrupt: Interrupt
    watch: Watch
    found: Callable[[Trial | None], None]
    baseline_key: str = ""
    given_key: str = ""
    first: int = 0
    earlier: tuple[Trial, ...] = ()
    clock: Callable[[], float] = time.monotonic
    limits: Limits = field(default_factory=Limits)
    drop: Callable[[tuple[str, ...]], None] = _keep_all
    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    baseline: Trial | None = None
    given: Trial | None = None
    trouble: tuple[Diagnostic, ...] = ()
    phase: str = "search"
    started: float | None = None
    refuted: set[str] = field(default_factory=set)
    """Keys of candidates that gave wrong results, in finals of earlier runs too."""
    paid: float = 0.0
    """Seconds of tuning that earlier runs of the record took."""
    silent: bool = False
    """The search gave no answer in time, as where its storage hangs. It is asked nothing more."""
    _search: BackgroundThread = field(default_factory=BackgroundThread)
    """Where the search thinks."""
    _ready: Proposal | None = None
    """Found while the bench was full; the next slot is its."""
    _ok: int = 0
    _failures: Counter[Failure] = field(default_factory=Counter)
    _flying: dict["asyncio.Task[Outcome]", tuple[Proposal, float]] = field(default_factory=dict)

    @property
    def candidates(self) -> list[Trial]:
        """Every quick trial known."""
        return [*self.earlier, *(t for t in self.trials if t.phase == "quick")]

    @property
    def elapsed(self) -> float:
        return 0.0 if self.started is None else self.clock() - self.started

    @property
    def left(self) -> float | None:
        return None if self.goal.seconds is None else self.goal.seconds - self.elapsed


def keep(run: Run, candidate: Candidate, origin: str, phase: str, outcome: Outcome, since: float) -> Trial:
    number = run.first + len(run.trials)
    trial = Trial(number, candidate, origin, phase, outcome, since, run.paid + run.elapsed)
    run.log.append(trial)
    run.trials.append(trial)
    return trial


def settle(run: Run, winner: Trial | None) -> None:
    run.best = winner
    run.found(winner)
    run.watch(progress(run), winner)


def seconds_of(trial: Trial | None) -> float | None:
    return None if trial is None else trial.outcome.seconds


def progress(run: Run) -> RunProgress:
    failed = tuple((f, run._failures[f]) for f in Failure if run._failures[f])
    return RunProgress(
        phase=run.phase,
        elapsed=run.elapsed,
        ok=run._ok,
        failures=failed,
        rejected=sum(run.proposals.skipped.values()),
        best=seconds_of(run.best),
        baseline=seconds_of(run.baseline),
        in_flight=len(run._flying),
        total=run.goal.seconds,
        trials=run.goal.trials,
    )
