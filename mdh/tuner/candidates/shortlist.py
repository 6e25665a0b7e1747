"""The model's say: of a few points that are drawn the best predicted are measured, the rest waits.

Nothing is thrown away. What the model sets aside is measured, the best first, once the search has used up its
space; and a share of it is measured all the same, so that a wrong model is found out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from mdh.ir.plan import Plan
from mdh.results.trial import Candidate
from mdh.tuner.prior import NOMINAL, Constants, Prediction, fit, predict, rank, worth
from mdh.tuner.prior.constants import seconds_of
from mdh.tuner.prior.fit import spearman

BATCH = 4
"""Proposals of a search that compete with one another."""
DRAWN = 64
"""Points drawn before a search knows anything."""
FIRST = 16
"""Of them compete with one another; the bench begins with the best of the first ones."""
_TRUST = 0.1
"""Rank correlation of predictions with times below which the model has no say."""
_REFIT = 20
"""New times after which the constants are fitted again."""
_MOST = 400
"""Latest times that fits and limits look at."""


def drawn_first(points: int) -> int:
    """How many points of a space of so many are drawn before the search begins: of small ones none, for the
    search comes to all of them."""
    return DRAWN if points > 2 * DRAWN else 0


@dataclass
class Shortlist:
    """kind: of the machine, `cpu` or `gpu`. start: constants to begin with, None: those that mdh comes with.
    trusted: the model's order has not turned out to mean nothing. Names are keys of candidates."""

    kind: str
    rng: Random
    start: Constants | None = None
    constants: Constants = field(init=False)
    trusted: bool = field(init=False, default=True)
    _pool: list[tuple[Candidate, Prediction]] = field(default_factory=list)
    _aside: list[tuple[Candidate, Prediction]] = field(default_factory=list)
    _asked: dict[str, Prediction] = field(default_factory=dict)
    _seen: list[tuple[Prediction, float]] = field(default_factory=list)
    _new: int = 0

    def __post_init__(self) -> None:
        self.constants = self.start or NOMINAL[self.kind]

    @property
    def aside(self) -> int:
        """Candidates that wait."""
        return len(self._aside) + len(self._pool)

    @property
    def seen(self) -> Sequence[tuple[Prediction, float]]:
        """What was predicted and measured."""
        return tuple(self._seen)

    def add(self, candidate: Candidate, plan: Plan) -> int:
        """A legal candidate; returns how many are in the pool now."""
        self._pool.append((candidate, predict(plan, self.constants)))
        return len(self._pool)

    def choose(self, share: float) -> tuple[str, ...]:
        """Keys of the pool's best, the best first; the pool is empty then. All of it where the model's order
        has turned out to mean nothing."""
        pool, self._pool = self._pool, []
        share = share if self.trusted else 1.0
        kept = worth([p for _, p in pool], self._seen, self.rng, share=share)
        chosen = [pool[i] for i in kept]
        self._aside.extend(pool[i] for i in range(len(pool)) if i not in set(kept))
        self._asked.update((candidate.key, prediction) for candidate, prediction in chosen)
        return tuple(candidate.key for candidate, _ in chosen)

    def rest(self) -> tuple[str, ...]:
        """Keys of all that waits, the best first."""
        waiting, self._aside, self._pool = [*self._aside, *self._pool], [], []
        self._asked.update((candidate.key, prediction) for candidate, prediction in waiting)
        return tuple(waiting[i][0].key for i in rank([p for _, p in waiting]))

    def take(self, key: str) -> None:
        """One that waits is measured after all."""
        for waiting in (self._pool, self._aside):
            for one in [w for w in waiting if w[0].key == key]:
                waiting.remove(one)
                self._asked[key] = one[1]

    def saw(self, key: str, seconds: float | None) -> None:
        """What came of a candidate."""
        prediction = self._asked.pop(key, None)
        if prediction is None or seconds is None:
            return
        self._seen.append((prediction, seconds))
        self._new += 1
        if self._new >= _REFIT:
            self._new = 0
            self._learn()

    def _learn(self) -> None:
        """Fits the constants to this device; what was predicted is predicted anew."""
        del self._seen[:-_MOST]
        self.constants = fit(self.start or NOMINAL[self.kind], self._seen)
        self._seen = [(self._anew(p), s) for p, s in self._seen]
        order = spearman(*(np.array(c) for c in zip(*((p.seconds, s) for p, s in self._seen), strict=True)))
        self.trusted = order >= _TRUST
        self._pool = [(c, self._anew(p)) for c, p in self._pool]
        self._aside = [(c, self._anew(p)) for c, p in self._aside]

    def _anew(self, prediction: Prediction) -> Prediction:
        return replace(prediction, seconds=_total(self.constants, prediction.features))


def _total(constants: Constants, features: Sequence[tuple[float, ...]]) -> float:
    return sum(float(seconds_of(constants, f)) for f in features)
