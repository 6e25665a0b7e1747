"""Selects usable trials. A trial with an unreadable schedule is left out, and the others stay."""

from collections.abc import Callable, Sequence

from mdh.diagnostics import Failed
from mdh.results.trial import Trial
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

_NAMED = 5


def sound(
    path: str, trials: Sequence[Trial], doubt: Callable[[Trial], str] = lambda _: ""
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """The usable trials, and a remark for each reason, which names the file and the trials. Trials with a
    time are left out if their schedule cannot be read, or if `doubt` returns a reason."""
    kept: list[Trial] = []
    out: dict[str, list[int]] = {}
    for trial in trials:
        why = doubt(trial) or _unreadable(trial)
        if why:
            out.setdefault(why, []).append(trial.number)
        else:
            kept.append(trial)
    return tuple(kept), tuple(_remark(path, why, numbers) for why, numbers in out.items())


def _unreadable(trial: Trial) -> str:
    """Why the trial's schedule cannot be read; empty if it can, or if the trial failed, because nobody reads
    that schedule."""
    if trial.outcome.seconds is None:
        return ""
    try:
        schedule = parse_schedule(Source("<record>", trial.candidate.schedule))
    except Failed as failed:
        return f"the schedule is none ({failed.diagnostics[0].code})"
    return "the schedule has holes" if any(True for _ in holes(schedule)) else ""


def _remark(path: str, why: str, numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    many = f"{len(numbers):,} trials are" if len(numbers) > 1 else "1 trial is"
    return f"`{path}`: {many} left out, {', '.join(map(str, numbers[:_NAMED]))}{more}: {why}"
