"""Finals: candidates that quick timing cannot tell apart meet once more, timed in turns in one process."""

from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from mdh.tune.values import THOROUGH, Effort, Outcome, Trial

MOST = 5
"""Finalists at most."""
_LEAST_NOISE, _MOST_NOISE = 0.03, 0.20
_BASELINE = 10.0
"""The baseline takes part unless it is more than this times as slow: its turns would take all the time."""
_LEAST_SECONDS = 2.0
"""Of budget, below which finals are left out."""


def finalists(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The best of the quick trials and those within noise of it, the fastest first; one a candidate."""
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
    """The relative spread of the middle half of the warm runs, within bounds."""
    if len(outcome.warm) < 4 or not outcome.seconds:
        return _MOST_NOISE
    low, _, high = quantiles(outcome.warm, n=4)
    return min(_MOST_NOISE, max(_LEAST_NOISE, 2 * (high - low) / median(outcome.warm)))


def unconfirmed(best: Trial | None, trials: Iterable[Trial]) -> str:
    """Why finals that were held could not confirm the best, which therefore has its quick time alone; empty
    where they did, or where there were none."""
    if best is None or best.phase != "quick":
        return ""
    key = best.candidate.key
    failed = [
        t.outcome for t in trials if t.candidate.key == key and t.phase != "quick" and t.outcome.failure
    ]
    if not failed:
        return ""
    last = failed[-1]
    return f"{last.failure}, {last.code or 'no code'}: {(last.message.splitlines() or ['no message'])[0]}"


def with_baseline(chosen: Sequence[Trial], baseline: Trial | None) -> tuple[Trial, ...]:
    """The finalists and the baseline, so that the speedup is a ratio of paired times."""
    if baseline is None or not chosen or any(t.candidate.key == baseline.candidate.key for t in chosen):
        return tuple(chosen)
    slow, best = baseline.outcome.seconds, chosen[0].outcome.seconds
    fair = slow is not None and best is not None and slow <= _BASELINE * best
    return (*chosen, baseline) if fair else tuple(chosen)


def final_effort(contestants: int, left: float | None) -> Effort | None:
    """What the time that is left allows for each; None: too little for finals."""
    if left is None:
        return THOROUGH
    if left < _LEAST_SECONDS:
        return None
    # the winner is timed once more, and building and judging take their share
    seconds = min(THOROUGH.seconds, 0.5 * left / (contestants + 1))
    samples = THOROUGH.samples if seconds > 1.0 else 30
    return Effort(samples, seconds, THOROUGH.cold, THOROUGH.inputs)
