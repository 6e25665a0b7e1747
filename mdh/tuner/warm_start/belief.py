"""Selects the trials of a record that a run continues: those in its space, the best of them checked."""

from collections.abc import Callable, Sequence

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate, Trial
from mdh.results.variable import Point
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.best import ranked
from mdh.tuner.records.sound import sound

_SURE = 8
"""The number of fastest candidates that must be known to be legal. A run ends with one of them, or with a
newer one."""
_LOOKED = 200
"""The most candidates that the checker is asked about; each takes milliseconds."""


def believed(
    path: str,
    trials: Sequence[Trial],
    point: Callable[[Candidate], Point | None],
    plan: Callable[[Schedule], Plan],
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """The trials that the run continues, and remarks about the others. point: the point of a candidate's
    values in the searched space; None if it has none. plan: the checker, which raises Failed."""

    def stray(trial: Trial) -> str:
        values = trial.candidate.values
        return "its values are no point of this space" if values and point(trial.candidate) is None else ""

    kept, remarks = sound(path, trials, stray)
    illegal = _illegal(kept, plan)
    if not illegal:
        return kept, remarks
    kept, more = sound(path, kept, lambda t: illegal.get(t.candidate.key, ""))
    return kept, (*remarks, *more)


def _illegal(trials: Sequence[Trial], plan: Callable[[Schedule], Plan]) -> dict[str, str]:
    """Key -> reason, for illegal candidates that are faster than those that are known to be legal."""
    out: dict[str, str] = {}
    legal = 0
    for row in ranked(trials)[:_LOOKED]:
        candidate = row[-1].candidate
        try:
            plan(parse_schedule(Source("<record>", candidate.schedule)))
            legal += 1
        except Failed as failed:
            out[candidate.key] = f"the schedule is refused ({failed.diagnostics[0].code})"
        if legal == _SURE:
            break
    return out
