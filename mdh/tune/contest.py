"""The finals of a run: its finalists are timed in turns, and the winner once more by itself."""

import time
from collections.abc import Sequence

from mdh.tune.finals import final_effort, finalists, with_baseline
from mdh.tune.pace import DROPPED
from mdh.tune.records.best import best as best_of
from mdh.tune.state import Run, keep, progress, seconds_of, settle
from mdh.tune.values import Effort, Failure, Trial


async def finals(run: Run) -> None:
    """The finalists in one process, then the winner alone in a fresh one; in rounds, since one that more
    inputs show to be wrong makes room for the next. A finalist that fails in another way is tried alone once
    more; where no finalist comes through, what the search found stands."""
    while True:
        chosen = finalists(_right(run))
        contest = with_baseline(chosen, run.baseline if seconds_of(run.baseline) else None)
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
            # its results were right on more inputs; only its timing in a fresh process failed
            settle(run, judged[0])
        if judged or any(t.candidate.key not in run.refuted for t in chosen):
            return


async def _wins(run: Run, trial: Trial) -> bool:
    """Times a finalist alone in a fresh process; without time left its standing is enough."""
    effort = final_effort(1, run.left)
    if effort is None:
        if trial.phase != "quick":
            settle(run, trial)
        return True
    since = time.time()
    outcome = await run.bench.trial(trial.candidate, effort, run.limits)
    again = keep(run, trial.candidate, trial.origin, "winner", outcome, since)
    if outcome.seconds is None:
        _take_back(run, (again,))
        return False
    settle(run, again)
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
        settle(run, best_of(_right(run)))


async def _duel(run: Run, contest: Sequence[Trial], effort: Effort) -> list[Trial]:
    """Those that are right on more inputs too, the fastest first; the baseline's paired time is kept."""
    since = time.time()
    outcomes = await run.bench.duel(tuple(t.candidate for t in contest), effort, run.limits)
    ranked: list[tuple[float, Trial]] = []
    kept: list[Trial] = []
    for trial, outcome in zip(contest, outcomes, strict=True):
        again = keep(run, trial.candidate, trial.origin, "final", outcome, since)
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
