"""The tuning loop: sends proposals to the bench, and results to the record and the searcher, until a goal is
reached.

One thread owns the searcher and the record. Building, judging and timing happen in the bench's processes.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from mdh.diagnostics import Failed
from mdh.results.goal import Ended
from mdh.results.trial import Outcome, Trial
from mdh.tuner.candidates.proposals import Proposal
from mdh.tuner.loop.finals import finals
from mdh.tuner.loop.state import GRACE, Run, effort_for, finals_take, keep, progress, seconds_of
from mdh.tuner.runtime.interrupt import unless_asked, until

T = TypeVar("T")
ATTEMPTS = 3
"""How often a candidate is measured whose worker dies because of another one."""
_LAST_THOUGHT = 1.0
"""Seconds that the search gets to answer once the user wants the run to end."""


OVERTIME = 20.0
"""Seconds that finals have at least, also after the end of the budget."""
_SLOWER = 3.0
"""Finals may take this many times as long as expected. What hangs is ended by the limits of workers."""


async def tune(run: Run) -> Ended:
    """Searches, then holds the finals. The results are in `run`. Candidates never make it raise. If nothing
    can be measured any more, `run.trouble` says why, and earlier results stay."""
    if run.started is None:
        run.started = run.clock()
    run.watch(progress(run), None)
    try:
        ended = await _search(run)
        if ended not in (Ended.INTERRUPTED, Ended.LOST):
            await unless_asked(run.interrupt, finals(run), timeout=_patience(run))
            ended = Ended.INTERRUPTED if run.interrupt.asked else ended
    except Failed as failed:
        run.trouble = failed.diagnostics
        ended = Ended.LOST
    finally:
        await _drop(run)
        run._search.close()
    return ended


def _patience(run: Run) -> float | None:
    """The seconds that the finals have: enough to judge and time the winner, however short the budget is."""
    if run.left is None:
        return None
    expected = 0.0 if run.best is None else finals_take(run, (run.best,))
    return max(OVERTIME, run.left, _SLOWER * expected)


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
    best, baseline = seconds_of(run.best), seconds_of(run.baseline)
    speedup = baseline / best if best and baseline else None
    ended = run.goal.reached(trials=len(run.trials), speedup=speedup)
    late = run.left is not None and run.left <= run.reserve
    return Ended.BUDGET if late and ended is not Ended.TRIALS else ended


async def _launch(run: Run) -> bool:
    """Fills the bench's slots. Returns True when the space is used up."""
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
    """Finds the next proposal while the bench works, so that a free slot is filled at once. If the bench has
    only one slot, each proposal waits for the last result instead."""
    while run.bench.slots > 1 and run._ready is None and await _may_think(run):
        if not await _think(run):
            return


async def _may_think(run: Run) -> bool:
    """Whether another proposal is useful and no result waits."""
    ahead = len(run.trials) + len(run._flying)
    if run.proposals.stuck or (run.goal.trials is not None and ahead >= run.goal.trials):
        return False
    # lets results, signals and the budget be handled between two draws
    await asyncio.sleep(0)
    return _over(run) is None and not any(task.done() for task in run._flying)


async def _think(run: Run) -> bool:
    """One step of the search, in a thread, while the bench works. Returns False when the space is used up."""
    found = await _thought(run, run.proposals.next)
    if isinstance(found, Proposal):
        run._ready = found
    return found is not None


async def _thought(run: Run, work: Callable[[], T]) -> T | None:
    """The answer of the search. None, with `run.silent` set, if it has none by the end of the run."""
    task = asyncio.ensure_future(run._search.do(work))
    try:
        while not task.done():
            late = run.left is not None and run.left < -GRACE
            if late or run.interrupt.asked:
                await asyncio.wait({task}, timeout=_LAST_THOUGHT)
                if not task.done():
                    run.silent = True
                    return None
            else:
                left = None if run.left is None else max(0.0, run.left + GRACE) + 0.01
                await until(run.interrupt, task, timeout=left)
    finally:
        task.cancel()
    return task.result()


def _start_ready(run: Run) -> None:
    proposal, run._ready = run._ready, None
    if proposal is None:
        return
    best = seconds_of(run.best)
    # the baseline is timed in full however slow it is, because all others are compared with it
    suggested = proposal.candidate.key in (run.baseline_key, run.given_key)
    effort = effort_for(None if suggested else best)
    work = run.bench.trial(proposal.candidate, effort, run.limits)
    run._flying[asyncio.ensure_future(work)] = proposal, time.time()


async def _land(run: Run) -> None:
    """Waits for a trial, an interrupt or the end of the search's time."""
    await _wait(run, None if run.left is None else max(0.0, run.left - run.reserve))


async def _drain(run: Run) -> None:
    """Waits a little for trials in flight, because cancelling them costs workers that the finals need. The
    wait is long if nothing is right yet, because such a run would have used its budget for nothing."""
    over = run.clock()
    while run._flying and not run.interrupt.asked:
        patient = run.left is None or run.best is None
        end = over + (GRACE if patient else run.draining)
        if run.clock() >= end:
            break
        await _wait(run, end - run.clock())


async def _wait(run: Run, left: float | None) -> None:
    await until(run.interrupt, *run._flying, timeout=left)
    ended = sorted((t for t in run._flying if t.done()), key=lambda t: run._flying[t][1])
    landed = [(task, *run._flying.pop(task)) for task in ended]
    if landed and _over(run) is None:
        _start_ready(run)
    # completed trials are kept before a failure of the machine ends the run
    for task, proposal, since in sorted(landed, key=lambda one: one[0].exception() is not None):
        outcome = task.result()
        if outcome.innocent and proposal.attempts < ATTEMPTS:
            run.proposals.again(replace(proposal, attempts=proposal.attempts + 1))
        else:
            await _tell(run, proposal, outcome, since)


async def _tell(run: Run, proposal: Proposal, outcome: Outcome, since: float) -> None:
    trial = keep(run, proposal.candidate, proposal.origin, "quick", outcome, since)
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
    run.watch(replace(progress(run), improved=improved), trial)
    if not run.silent:
        # last, when all of it is on disk and shown: a storage that the search shares may hang
        await _thought(run, partial(run.proposals.told, proposal, outcome.seconds))


def _beats(outcome: Outcome, best: Trial | None) -> bool:
    if outcome.stopped and best is not None:
        return False
    held = seconds_of(best)
    return outcome.seconds is not None and (held is None or outcome.seconds < held)


async def _drop(run: Run) -> None:
    """Cancels the trials in flight."""
    flying = list(run._flying)
    run._flying.clear()
    for task in flying:
        task.cancel()
    await asyncio.gather(*flying, return_exceptions=True)
