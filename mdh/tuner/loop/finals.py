"""The finals of a run: candidates that quick timing cannot tell apart are timed in turns in one process, and
then the winner once more alone."""

import time
from collections.abc import Sequence
from statistics import median, quantiles

from mdh.results.trial import Effort, Failure, Outcome, Trial
from mdh.tuner.loop.state import (
    Run,
    affordable,
    final_effort,
    finals_take,
    keep,
    progress,
    seconds_of,
    settle,
)
from mdh.tuner.records.best import best as best_of

MOST = 5
"""The most finalists."""
_LEAST_NOISE, _MOST_NOISE = 0.03, 0.20
_BASELINE = 10.0
"""The baseline takes part unless it is more than this many times slower than the best, because its runs would
take all the time."""


async def finals(run: Run) -> None:
    """Times the finalists in one process, then the winner alone in a fresh one. If more inputs show that a
    finalist is wrong, another round with the next candidate follows. A finalist that fails in another way is
    tried alone once more. If no finalist succeeds, the result of the search stands."""
    while True:
        chosen = finalists(_right(run))
        if not chosen:
            return
        contest = affordable(run, with_baseline(chosen, run.baseline if seconds_of(run.baseline) else None))
        effort = _effort(run, contest)
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
    """Times a finalist alone in a fresh process."""
    effort = _effort(run, (trial,))
    since = time.time()
    outcome = await run.bench.trial(trial.candidate, effort, run.limits)
    again = keep(run, trial.candidate, trial.origin, "winner", outcome, since)
    if outcome.seconds is None:
        _take_back(run, (again,))
        return False
    settle(run, again)
    return True


def _effort(run: Run, contest: Sequence[Trial]) -> Effort:
    """The effort for each of these. What building and judging take is left out of the remaining time."""
    return final_effort(len(contest), None if run.left is None else run.left - finals_take(run, contest))


def _right(run: Run) -> list[Trial]:
    """The quick trials whose candidates no finals have shown to be wrong."""
    return [t for t in run.candidates if t.candidate.key not in run.refuted]


def _take_back(run: Run, found: Sequence[Trial]) -> None:
    """Removes candidates whose results were wrong; the best of the others replaces them at once. A crash, a
    limit or a lack of memory does not prove a candidate wrong."""
    wrong = {t.candidate.key for t in found if t.outcome.failure is Failure.WRONG}
    run.refuted |= wrong
    if run.best is not None and run.best.candidate.key in wrong:
        settle(run, best_of(_right(run)))


async def _duel(run: Run, contest: Sequence[Trial], effort: Effort) -> list[Trial]:
    """The finalists that are right on more inputs too, the fastest first; keeps the baseline's paired
    time."""
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
    return [trial for _, trial in ranked]


def finalists(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The best of the quick trials and those within noise of it, the fastest first, one for each
    candidate."""
    timed: dict[str, tuple[float, Trial]] = {}
    for trial in trials:
        seconds = trial.outcome.seconds
        if seconds is not None and not trial.outcome.stopped:
            held = timed.get(trial.candidate.key)
            if held is None or seconds < held[0]:
                timed[trial.candidate.key] = seconds, trial
    ordered = sorted(timed.values(), key=lambda pair: (pair[0], pair[1].number))
    if not ordered:
        return ()
    limit = ordered[0][0] * (1 + noise_of(ordered[0][1].outcome))
    return tuple(trial for seconds, trial in ordered if seconds <= limit)[:MOST]


def noise_of(outcome: Outcome) -> float:
    """The relative interquartile range of the warm runs, within bounds."""
    if len(outcome.warm) < 4 or not outcome.seconds:
        return _MOST_NOISE
    low, _, high = quantiles(outcome.warm, n=4)
    return min(_MOST_NOISE, max(_LEAST_NOISE, 2 * (high - low) / median(outcome.warm)))


def with_baseline(chosen: Sequence[Trial], baseline: Trial | None) -> tuple[Trial, ...]:
    """The finalists and the baseline, so that the speedup is a ratio of paired times."""
    if baseline is None or not chosen or any(t.candidate.key == baseline.candidate.key for t in chosen):
        return tuple(chosen)
    slow, best = baseline.outcome.seconds, chosen[0].outcome.seconds
    fair = slow is not None and best is not None and slow <= _BASELINE * best
    return (*chosen, baseline) if fair else tuple(chosen)
