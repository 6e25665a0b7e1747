"""The size of a space at each stage, as `mdh explain --space` shows it."""

from collections import Counter
from dataclasses import dataclass
from math import inf, sqrt
from random import Random
from time import monotonic

from mdh.diagnostics import Failed
from mdh.tuner.space.identity import identity
from mdh.tuner.space.space import ExactSpace

_Z = 1.96
"""The normal quantile of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Account:
    """raw: the product of all domains. structural: the exact number of points with legal tiles, names and
    units.

    draws: the number of points that the checker was asked about. legal: how many of them were legal. low,
    high: a 95 % confidence interval of the share of legal points (Wilson 1927). programs: how many different
    programs these are. reasons: why the others are illegal, the most frequent first: code, count, the first
    headline.
    """

    raw: int
    structural: int
    draws: int
    legal: int
    programs: int
    low: float
    high: float
    reasons: tuple[tuple[str, int, str], ...]

    @property
    def estimate(self) -> float:
        """The estimated number of legal points."""
        return self.structural * self.legal / self.draws

    @property
    def interval(self) -> tuple[float, float]:
        return self.structural * self.low, self.structural * self.high


def account(space: ExactSpace, draws: int = 400, seed: int = 0, seconds: float = inf) -> Account:
    """Asks the checker about `draws` points, or about as many as it can answer in `seconds`. If the space has
    no more points than that, it asks about each of them once."""
    end = monotonic() + seconds
    everything = space.count <= draws
    rng = Random(seed)
    # in random order, so that a part of them is representative
    ranks = rng.sample(range(space.count), space.count) if everything else ()
    points = map(space.unrank, ranks) if everything else (space.draw(rng) for _ in range(draws))
    reasons: Counter[str] = Counter()
    first: dict[str, str] = {}
    programs: set[str] = set()
    legal = 0
    for point in points:
        plan = space.plan(point)
        if isinstance(plan, Failed):
            wrong = plan.diagnostics[0]
            reasons[wrong.code] += 1
            first.setdefault(wrong.code, wrong.headline)
        else:
            legal += 1
            programs.add(identity(plan))
        if monotonic() > end:
            break
    n = legal + sum(reasons.values())
    low, high = (legal / n, legal / n) if n == space.count else _wilson(legal, n)
    told = tuple((code, count, first[code]) for code, count in reasons.most_common())
    return Account(space.raw, space.count, n, legal, len(programs), low, high, told)


def _wilson(hits: int, n: int) -> tuple[float, float]:
    """The confidence interval of a share: E. B. Wilson, JASA 22 (1927)."""
    p, z = hits / n, _Z
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
