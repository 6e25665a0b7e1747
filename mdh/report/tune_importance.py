"""How much each hole of a schedule matters, from the trials of a search alone.

Share: the part of the variance of log time between the values of one variable. It is the effect size omega
squared of a one-way analysis of variance, which does not grow with the number of values by chance. Joint
effects of two variables count for neither. Regret: how much slower the best trial with another value is,
which is the cost of another choice.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from mdh.results.trial import Trial, Value
from mdh.results.tuning import Tuned
from mdh.results.variable import Variable

LEAST = 8
"""The number of right trials below which a share has no meaning."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One variable. value: of the best point. share: from 0 to 1; None if there are too few trials. rival:
    the best other value. regret: its best time divided by the best time."""

    variable: Variable
    value: Value | None
    share: float | None
    rival: Value | None
    regret: float | None
    tried: int


def sensitivities(tuned: Tuned) -> tuple[Sensitivity, ...]:
    """Of every variable, in the order of the space."""
    timed = [t for t in tuned.measured if t.outcome.seconds and t.candidate.values]
    point = tuned.best_point
    best = {} if point is None else dict(point.candidate.values)
    return tuple(_sensitivity(v, best.get(v.name), timed) for v in tuned.variables)


def _sensitivity(variable: Variable, chosen: Value | None, timed: Sequence[Trial]) -> Sensitivity:
    groups: dict[Value, list[float]] = defaultdict(list)
    for trial in timed:
        value = dict(trial.candidate.values).get(variable.name)
        if value is not None and trial.outcome.seconds:
            groups[value].append(trial.outcome.seconds)
    rival = min((v for v in groups if v != chosen), key=lambda v: min(groups[v]), default=None)
    regret = None
    if rival is not None and chosen in groups:
        regret = min(groups[rival]) / min(groups[chosen])
    share = explained([[log(s) for s in g] for g in groups.values()])
    return Sensitivity(variable, chosen, share, rival, regret, len(groups))


def explained(groups: Sequence[Sequence[float]]) -> float | None:
    """Omega squared of a one-way layout; None for too few numbers."""
    numbers = [y for g in groups for y in g]
    n, k = len(numbers), len(groups)
    if n < LEAST or n <= k:
        return None
    mean = sum(numbers) / n
    total = sum((y - mean) ** 2 for y in numbers)
    between = sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups)
    within = max(0.0, total - between) / (n - k)
    if total + within <= 0:
        return 0.0
    return min(1.0, max(0.0, (between - (k - 1) * within) / (total + within)))
