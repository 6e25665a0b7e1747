"""The state of a tuning run: what it works with, what it has found so far, and how thoroughly it measures."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mdh.diagnostics import Diagnostic
from mdh.results.goal import Goal
from mdh.results.trial import QUICK, THOROUGH, Candidate, Effort, Failure, Limits, Outcome, Trial
from mdh.results.tuning import RunProgress
from mdh.tuner.candidates.proposals import CandidateQueue, Proposal
from mdh.tuner.measure.bench import Bench
from mdh.tuner.runtime.background import BackgroundThread
from mdh.tuner.runtime.interrupt import Interrupt

Watch = Callable[[RunProgress, Trial | None], None]
"""Called with every trial and phase, to show the user how a run proceeds."""
_LOSER = 3.0
"""A candidate slower than this many times the best is timed only three times."""
_LEAST_SECONDS = 2.0
"""Seconds that finals take at least, whatever is left of the budget."""


@dataclass
class Run:
    """The state of a run.

    limits: the time limits of workers. log: called with each trial, which is on disk when it returns. found:
    called with each better trial before anybody else learns of it, and with the next best if the best proves
    wrong. clock: seconds since any fixed moment. first: the number of the first trial. earlier: quick trials
    of the record that this run continues. started: when the budget began; None: with the search.
    """

    bench: Bench
    proposals: CandidateQueue
    log: Callable[[Trial], None]
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
    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    baseline: Trial | None = None
    given: Trial | None = None
    trouble: tuple[Diagnostic, ...] = ()
    phase: str = "search"
    started: float | None = None
    refuted: set[str] = field(default_factory=set)
    """Keys of candidates that gave wrong results, also in finals of earlier runs."""
    paid: float = 0.0
    """Seconds that earlier runs of the record took."""
    silent: bool = False
    """The search did not answer in time, for example because its storage hangs. It is not asked again."""
    _search: BackgroundThread = field(default_factory=BackgroundThread)
    """The thread in which the search runs."""
    _ready: Proposal | None = None
    """A proposal that was found while the bench was full; it gets the next slot."""
    _ok: int = 0
    _failures: Counter[Failure] = field(default_factory=Counter)
    _flying: dict["asyncio.Task[Outcome]", tuple[Proposal, float]] = field(default_factory=dict)

    @property
    def candidates(self) -> list[Trial]:
        """Every known quick trial."""
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
    run.log(trial)
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
        best=seconds_of(run.best),
        baseline=seconds_of(run.baseline),
        total=run.goal.seconds,
        trials=run.goal.trials,
    )


def effort_for(best: float | None) -> Effort:
    """The effort for a candidate. best: seconds of the best so far; None if there is none."""
    return QUICK if best is None else replace(QUICK, give_up=_LOSER * best)


def final_effort(contestants: int, left: float | None) -> Effort:
    """The effort for each finalist in the remaining time. However short a budget is, the finalists are judged
    on more inputs, and the winner is timed once more."""
    if left is None:
        return THOROUGH
    # building and judging take time as well
    seconds = min(THOROUGH.seconds, 0.5 * max(left, _LEAST_SECONDS) / (contestants + 1))
    samples = THOROUGH.samples if seconds > 1.0 else 30
    return Effort(samples, seconds, THOROUGH.cold, THOROUGH.inputs)
