"""The winner seen from the machine: what it computes, what it must move, how fast both can be."""

from dataclasses import dataclass

from mdh.cost.work import peak_of, work_of
from mdh.ir.plan import Plan
from mdh.results.trial import Trial
from mdh.results.tuning import Tuned


@dataclass(frozen=True, slots=True)
class Roofline:
    """intensity: operations a byte that memory must carry; points: (name, operations a second)."""

    intensity: float
    peak: float
    bandwidth: float
    points: tuple[tuple[str, float], ...]


def _same(one: Trial, other: Trial) -> bool:
    return one.candidate.key == other.candidate.key


def roof_of(tuned: Tuned, plan: Plan) -> Roofline | None:
    """None where the program has no arithmetic, or the machine no speeds."""
    ops, least = work_of(plan)
    peak = peak_of(plan.machine, *(s.stage for s in plan.stages))
    timed: tuple[tuple[str, Trial | None], ...] = (("default", tuned.baseline), ("best", tuned.best))
    if tuned.best is not None and tuned.baseline is not None and _same(tuned.best, tuned.baseline):
        # two times of one kernel are no two points
        timed = (("best", tuned.best),)
    points = tuple(
        (name, ops / t.outcome.seconds) for name, t in timed if t is not None and t.outcome.seconds
    )
    if not ops or not least or not points or peak <= 0 or plan.machine.bandwidth <= 0:
        return None
    return Roofline(ops / least, peak, plan.machine.bandwidth, points)
