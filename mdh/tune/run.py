"""The tuning loop: proposals to the bench, outcomes to the record and the searcher, until a goal is reached.

One thread owns the searcher and the record; building, judging and timing happen in the bench's processes.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from mdh.diagnostics import Diagnostic, Failed
from mdh.tune.api import Bench
from mdh.tune.aside import Aside
from mdh.tune.finals import final_effort, finalists, with_baseline
from mdh.tune.goal import Ended, Goal
from mdh.tune.interrupt import Interrupt, until
from mdh.tune.pace import DROPPED, effort_for
from mdh.tune.proposals import Proposal, Proposals
from mdh.tune.records.best import best as best_of
from mdh.tune.result import Progress
from mdh.tune.values import Candidate, Effort, Failure, Limits, Outcome, Trial

T = TypeVar("T")
ATTEMPTS = 3
"""Times that a candidate is measured when its worker dies of another one."""
_GRACE = 10.0
"""Seconds that trials in flight get at the end of a search, and the search itself past its budget."""
_LAST_THOUGHT = 1.0
"""Seconds that the search gets to answer once the user wants the run to end."""


class Log(Protocol):
    """Where trials are kept; a trial is on disk when `append` returns."""

    def append(self, trial: Trial) -> None: ...


class Watch(Protocol):
    """Told of every trial and phase; what the user sees while a run goes on."""

    def __call__(self, progress: Progress, trial: Trial | None, /) -> None: ...


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
    proposals: Proposals
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
    _search: Aside = field(default_factory=Aside)
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


async def tune(run: Run) -> Ended:
    """Searches, then holds the finals; `run` has the findings. Never raises for what candidates do; where
    nothing can be measured any more `run.trouble` says why and what was found stays."""
    if run.started is None:
        run.started = run.clock()
    run.watch(progress(run), None)
    try:
        ended = await _search(run)
        if ended not in (Ended.INTERRUPTED, Ended.LOST):
            await _until_asked(run, _finals(run))
            ended = Ended.INTERRUPTED if run.interrupt.asked else ended
    except Failed as failed:
        run.trouble = failed.diagnostics
        ended = Ended.LOST
    finally:
        await _drop(run)
        run._search.close()
    return ended


async def _search(run: Run) -> Ended:
    while True:
        ended = _over(run)
        if ended is not None:
            if ended is not Ended.INTERRUPTED:
                await _drain(run)
            await _drop(run)
            return ended
        used_up = await _launch(run)
        if not run._flying:
            if used_up:
                return Ended.EXHAUSTED
            if run.proposals.stuck:
                return Ended.STUCK
            continue
        await _think_ahead(run)
        await _land(run)


def _over(run: Run) -> Ended | None:
    if run.interrupt.asked:
        return Ended.INTERRUPTED
    if run.silent:
        return Ended.BUDGET
    best, baseline = _seconds(run.best), _seconds(run.baseline)
    speedup = baseline / best if best and baseline else None
    return run.goal.reached(trials=len(run.trials), elapsed=run.elapsed, speedup=speedup)


async def _launch(run: Run) -> bool:
    """Fills the bench's slots; True where the space is used up."""
    while len(run._flying) < run.bench.slots:
        if run._ready is None:
            if not await _may_think(run):
                return False
            if not await _think(run):
                return not run.silent
        else:
            _start_ready(run)
    return False


async def _think_ahead(run: Run) -> None:
    """Finds the next proposal while the bench works, so that a slot which gets free is filled at once. Where
    the bench has one slot, each proposal waits for the last result instead."""
    while run.bench.slots > 1 and run._ready is None and await _may_think(run):
        if not await _think(run):
            return


async def _may_think(run: Run) -> bool:
    """True while a further proposal is of use, and no result waits."""
    ahead = len(run.trials) + len(run._flying)
    if run.proposals.stuck or (run.goal.trials is not None and ahead >= run.goal.trials):
        return False
    # results, signals and the budget get their turn between two draws
    await asyncio.sleep(0)
    return _over(run) is None and not any(task.done() for task in run._flying)


async def _think(run: Run) -> bool:
    """One step of the search, in a thread: the bench goes on meanwhile. False where the space is used up."""
    found = await _thought(run, run.proposals.next)
    if isinstance(found, Proposal):
        run._ready = found
    return found is not None


async def _thought(run: Run, work: Callable[[], T]) -> T | None:
    """What the search says. None with `run.silent` where it says nothing by the time the run has to end."""
    task = asyncio.ensure_future(run._search.do(work))
    try:
        while not task.done():
            late = run.left is not None and run.left < -_GRACE
            if late or run.interrupt.asked:
                await asyncio.wait({task}, timeout=_LAST_THOUGHT)
                if not task.done():
                    run.silent = True
                    return None
            else:
                await until(
                    run.interrupt, task, None if run.left is None else max(0.0, run.left + _GRACE) + 0.01
                )
    finally:
        task.cancel()
    return task.result()


def _start_ready(run: Run) -> None:
    proposal, run._ready = run._ready, None
    if proposal is None:
        return
    best = _seconds(run.best)
    # the baseline is timed in full however slow it is: it is what all others are compared with
    suggested = proposal.candidate.key in (run.baseline_key, run.given_key)
    effort = effort_for(None if suggested else best)
    work = run.bench.trial(proposal.candidate, effort, run.limits)
    run._flying[asyncio.ensure_future(work)] = proposal, time.time()


async def _land(run: Run) -> None:
    """Waits for a trial, an interrupt or the end of the search's time."""
    await _wait(run, None if run.left is None else max(0.0, run.left - run.goal.reserve))


async def _drain(run: Run) -> None:
    """A little longer for what is in flight: giving it up costs workers that the finals need. Where nothing
    is right yet the wait is long, since a run that finds nothing has used its budget for nothing."""
    over = run.clock()
    while run._flying and not run.interrupt.asked:
        patient = run.left is None or run.best is None
        end = over + (_GRACE if patient else min(_GRACE, 0.25 * run.goal.reserve))
        if run.clock() >= end:
            break
        await _wait(run, end - run.clock())


async def _wait(run: Run, left: float | None) -> None:
    asked = asyncio.ensure_future(run.interrupt.event.wait())
    try:
        done, _ = await asyncio.wait({*run._flying, asked}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
    ended = sorted((t for t in run._flying if t in done), key=lambda t: run._flying[t][1])
    landed = [(task, *run._flying.pop(task)) for task in ended]
    if landed and _over(run) is None:
        _start_ready(run)
    # what has ended well is kept before a failure of the machine ends the run
    for task, proposal, since in sorted(landed, key=lambda one: one[0].exception() is not None):
        outcome = task.result()
        if outcome.innocent and proposal.attempts < ATTEMPTS:
            run.proposals.again(replace(proposal, attempts=proposal.attempts + 1))
        else:
            await _tell(run, proposal, outcome, since)


async def _tell(run: Run, proposal: Proposal, outcome: Outcome, since: float) -> None:
    trial = _keep(run, proposal.candidate, proposal.origin, "quick", outcome, since)
    if outcome.failure is None:
        run._ok += 1
    else:
        run._failures[outcome.failure] += 1
    if proposal.candidate.key == run.baseline_key:
        run.baseline = trial
    if proposal.candidate.key == run.given_key:
        run.given = trial
    improved = outcome.seconds is not None and _beats(outcome, run.best)
    if improved:
        run.best = trial
        run.found(trial)
    fastest = _seconds(run.best)
    if outcome.seconds is None or (fastest is not None and outcome.seconds > DROPPED * fastest):
        run.drop((proposal.candidate.key,))
    run.watch(replace(progress(run), improved=improved), trial)
    if not run.silent:
        # last, when all of it is on disk and shown: a storage that the search shares may hang
        await _thought(run, partial(run.proposals.told, proposal, outcome.seconds))


def _beats(outcome: Outcome, best: Trial | None) -> bool:
    if outcome.stopped and best is not None:
        return False
    held = _seconds(best)
    return outcome.seconds is not None and (held is None or outcome.seconds < held)


def _keep(run: Run, candidate: Candidate, origin: str, phase: str, outcome: Outcome, since: float) -> Trial:
    number = run.first + len(run.trials)
    trial = Trial(number, candidate, origin, phase, outcome, since, run.paid + run.elapsed)
    run.log.append(trial)
    run.trials.append(trial)
    return trial


async def _finals(run: Run) -> None:
    """The finalists in one process, then the winner alone in a fresh one; in rounds, since one that more
    inputs show to be wrong makes room for the next. A finalist that fails in another way is tried alone once
    more; where no finalist comes through, what the search found stands."""
    while True:
        chosen = finalists(_right(run))
        contest = with_baseline(chosen, run.baseline if _seconds(run.baseline) else None)
        effort = final_effort(len(contest), run.left)
        if not chosen or effort is None:
            return
        run.phase = "finals"
        run.watch(progress(run), None)
        ranked = await _duel(run, contest, effort) if len(contest) > 1 else list(chosen)
        through = {t.candidate.key for t in ranked}
        for trial in (*ranked, *(t for t in chosen if t.candidate.key not in through)):
            if trial.candidate.key not in run.refuted and await _wins(run, trial):
                return
        judged = [t for t in ranked if t.phase == "final" and t.candidate.key not in run.refuted]
        if judged:
            # right on more inputs, though no process of its own got to its end
            _settle(run, judged[0])
        if judged or any(t.candidate.key not in run.refuted for t in chosen):
            return


async def _wins(run: Run, trial: Trial) -> bool:
    """Times a finalist alone in a fresh process; without time left its standing is enough."""
    effort = final_effort(1, run.left)
    if effort is None:
        if trial.phase != "quick":
            _settle(run, trial)
        return True
    since = time.time()
    outcome = await run.bench.trial(trial.candidate, effort, run.limits)
    again = _keep(run, trial.candidate, trial.origin, "winner", outcome, since)
    if outcome.seconds is None:
        _take_back(run, (again,))
        return False
    _settle(run, again)
    return True


def _right(run: Run) -> list[Trial]:
    """The quick trials whose candidates no finals have shown to be wrong."""
    return [t for t in run.candidates if t.candidate.key not in run.refuted]


def _take_back(run: Run, found: Sequence[Trial]) -> None:
    """Those whose results were wrong are out, and the best of the others takes their place at once. A crash,
    a limit or a lack of memory shows nothing of the kind."""
    wrong = {t.candidate.key for t in found if t.outcome.failure is Failure.WRONG}
    run.refuted |= wrong
    run.drop(tuple(sorted(wrong)))
    if run.best is not None and run.best.candidate.key in wrong:
        _settle(run, best_of(_right(run)))


def _settle(run: Run, winner: Trial | None) -> None:
    run.best = winner
    run.found(winner)
    run.watch(progress(run), winner)


async def _duel(run: Run, contest: Sequence[Trial], effort: Effort) -> list[Trial]:
    """Those that are right on more inputs too, the fastest first; the baseline's paired time is kept."""
    since = time.time()
    outcomes = await run.bench.duel(tuple(t.candidate for t in contest), effort, run.limits)
    ranked: list[tuple[float, Trial]] = []
    kept: list[Trial] = []
    for trial, outcome in zip(contest, outcomes, strict=True):
        again = _keep(run, trial.candidate, trial.origin, "final", outcome, since)
        if outcome.seconds is not None:
            ranked.append((outcome.seconds, again))
            if trial.candidate.key == run.baseline_key:
                run.baseline = again
            if trial.candidate.key == run.given_key:
                run.given = again
        kept.append(again)
    _take_back(run, kept)
    ranked.sort(key=lambda pair: (pair[0], pair[1].number))
    near = {t.candidate.key for seconds, t in ranked if seconds <= DROPPED * ranked[0][0]}
    run.drop(tuple(t.candidate.key for t in contest if t.candidate.key not in near))
    return [trial for _, trial in ranked]


async def _until_asked(run: Run, work: Coroutine[Any, Any, None]) -> None:
    """Runs `work` unless the user ends the run or the budget does."""
    task = asyncio.ensure_future(work)
    try:
        await until(run.interrupt, task, None if run.left is None else max(0.0, run.left))
    finally:
        if not task.done():
            task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _drop(run: Run) -> None:
    """Gives up what is in flight."""
    flying = list(run._flying)
    run._flying.clear()
    for task in flying:
        task.cancel()
    await asyncio.gather(*flying, return_exceptions=True)


def _seconds(trial: Trial | None) -> float | None:
    return None if trial is None else trial.outcome.seconds


def progress(run: Run) -> Progress:
    failed = tuple((f, run._failures[f]) for f in Failure if run._failures[f])
    return Progress(
        phase=run.phase,
        elapsed=run.elapsed,
        ok=run._ok,
        failures=failed,
        rejected=sum(run.proposals.skipped.values()),
        best=_seconds(run.best),
        baseline=_seconds(run.baseline),
        in_flight=len(run._flying),
        total=run.goal.seconds,
        trials=run.goal.trials,
    )
