"""Chooses the best trial of a record, by a rule that gives every reader the same answer."""

from collections.abc import Iterable

from mdh.results.trial import Failure, Trial
from mdh.tuner.measure.failures import of_candidate

PHASES = ("quick", "final", "winner")
"""In order of trust: a later phase measures better."""


def best(trials: Iterable[Trial]) -> Trial | None:
    """The most trusted trial of the fastest candidate; None if nothing has a time.

    A candidate that was only measured quickly beats the best finalist only if it is faster than both times of
    that finalist, so that a lucky short measurement wins nothing. Ties go to the lower number.
    """
    rows = ranked(trials)
    finalists = [r for r in rows if rank(r[-1].phase) > 0]
    if not finalists:
        return rows[0][-1] if rows else None
    first = finalists[0]
    fastest = min(_seconds(t) for t in first)
    ahead = [r for r in rows if rank(r[-1].phase) == 0 and _seconds(r[-1]) < fastest]
    return (ahead or finalists)[0][-1]


def ranked(trials: Iterable[Trial]) -> tuple[tuple[Trial, ...], ...]:
    """The timed trials of each right candidate, the most trusted last; the fastest candidate comes first.

    A candidate is left out if any of its results was wrong, if its last quick trial failed and it was in no
    finals, or if it failed in finals in which another one succeeded. Finals in which nobody succeeded, as on
    a machine that is short of memory, do not count against it.
    """
    of: dict[str, list[Trial]] = {}
    for trial in trials:
        if of_candidate(trial.outcome):
            of.setdefault(trial.candidate.key, []).append(trial)
    finals = (t for found in of.values() for t in found if rank(t.phase) and t.outcome.seconds is not None)
    through = max((t.started for t in finals), default=float("-inf"))
    rows = [_timed(sorted(found, key=_trust), through) for found in of.values()]
    return tuple(
        sorted((r for r in rows if r), key=lambda r: (_seconds(r[-1]), r[-1].number, r[-1].candidate.key))
    )


def _timed(found: list[Trial], through: float) -> tuple[Trial, ...]:
    """The timed trials of one candidate. through: when the latest trial of finals began in which a candidate
    succeeded."""
    last = found[-1]
    failed = last.outcome.seconds is None
    beaten = failed and (rank(last.phase) == 0 or last.started <= through)
    if beaten or any(t.outcome.failure is Failure.WRONG for t in found):
        return ()
    return tuple(t for t in found if t.outcome.seconds is not None)


def _trust(trial: Trial) -> tuple[int, float, int]:
    return rank(trial.phase), trial.started, trial.number


def rank(phase: str) -> int:
    return PHASES.index(phase) if phase in PHASES else 0


def _seconds(trial: Trial) -> float:
    seconds = trial.outcome.seconds
    return float("inf") if seconds is None else seconds
