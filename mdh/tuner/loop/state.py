"""The state of a tuning run: what it works with, what it has found so far, and how thoroughly it measures."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
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
"""Seconds for the timed runs of finals, whatever is left of the budget."""
GRACE = 10.0
"""The most seconds that trials in flight get at the end of a search, and the search itself after its
budget."""
_MOST_KEPT = 0.5
"""The largest part that is kept for finals of what was left of a budget when the first trial ended. A short
one has a search, too, however long its processes took to start, and its finals end late."""
_SHORT = 10.0
"""Finals of this many seconds have all their contestants, whatever is left of the budget."""


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
    waited: float | None = None
    """Seconds of the budget until the first trial of this run ended."""
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

    @property
    def draining(self) -> float:
        """The seconds at the end of the search in which trials in flight may end."""
        return min(GRACE, 0.25 * self.goal.reserve)

    @property
    def reserve(self) -> float:
        """The seconds of the budget that are kept for the finals: what the goal says, or more if those of the
        best and the baseline will take longer; never more than a share of what the start of its processes
        left."""
        if self.goal.seconds is None or self.best is None:
            return self.goal.reserve
        pair = {t.candidate.key: t for t in (self.best, self.baseline) if t is not None}
        needed = self.draining + finals_take(self, tuple(pair.values())) + _LEAST_SECONDS
        most = _MOST_KEPT * max(0.0, self.goal.seconds - (self.waited or 0.0))
        return min(max(self.goal.reserve, needed), most)


def keep(run: Run, candidate: Candidate, origin: str, phase: str, outcome: Outcome, since: float) -> Trial:
    number = run.first + len(run.trials)
    run.waited = run.elapsed if run.waited is None else run.waited
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
        earlier=run.earlier,
    )


def effort_for(best: float | None) -> Effort:
    """The effort for a candidate. best: seconds of the best so far; None if there is none."""
    return QUICK if best is None else replace(QUICK, give_up=_LOSER * best)


def finals_take(run: Run, contest: Sequence[Trial]) -> float:
    """The seconds, as far as known, that finals of these take besides the timed runs. All of them are judged
    for the duel, and the winner once more."""
    judging = [THOROUGH.inputs / QUICK.inputs * t.outcome.check_seconds for t in contest]
    duel = sum(judging) if len(contest) > 1 else 0.0
    return run.bench.ahead(tuple(t.candidate for t in contest)) + duel + max(judging)


def affordable(run: Run, contest: Sequence[Trial]) -> tuple[Trial, ...]:
    """As many of the contestants as there is time for, at least one. The fastest is the first of them and
    stays; the baseline is the last, and goes after all others."""
    kept = list(contest)
    if run.left is None:
        return tuple(kept)
    room = max(_SHORT, run.left) - _LEAST_SECONDS
    while len(kept) > 1 and finals_take(run, kept) > room:
        others = len(kept) > 2 and kept[-1].candidate.key == run.baseline_key
        del kept[-2 if others else -1]
    return tuple(kept)


def final_effort(contestants: int, left: float | None) -> Effort:
    """The effort for each finalist. left: seconds for their timed runs. However short a budget is, the
    finalists are judged on more inputs, and the winner is timed once more."""
    if left is None:
        return THOROUGH
    # the winner is timed once more
    seconds = min(THOROUGH.seconds, 0.5 * max(left, _LEAST_SECONDS) / (contestants + 1))
    samples = THOROUGH.samples if seconds > 1.0 else 30
    return Effort(samples, seconds, THOROUGH.cold, THOROUGH.inputs)
