"""The model's selection: of a few drawn points the best predicted are measured, and the rest waits.

Nothing is dropped. What the model sets aside is measured, the best first, once the search has used up its
space. A share of it is measured anyway, so that a wrong model is noticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from mdh.cost.fit import fit, spearman
from mdh.cost.predict import predict
from mdh.cost.prediction import NOMINAL, Constants, Prediction, seconds_of
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate
from mdh.tuner.candidates.choose import rank, worth

BATCH = 4
"""Proposals of a search that compete with one another."""
DRAWN = 64
"""Points that are drawn before a search knows anything."""
FIRST = 16
"""How many of these compete with one another. Measuring begins with the best of the first ones."""
_TRUST = 0.1
"""The rank correlation of predictions with times below which the model is ignored."""
_REFIT = 20
"""New times after which the constants are fitted again."""
_MOST = 400
"""The number of latest times that fits and limits look at."""


def drawn_first(points: int) -> int:
    """The number of points that are drawn before the search begins, for a space of `points` points. It is 0
    for small spaces, because the search visits all of their points."""
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
        """The number of candidates that wait."""
        return len(self._aside) + len(self._pool)

    @property
    def seen(self) -> Sequence[tuple[Prediction, float]]:
        """Pairs of prediction and measured seconds."""
        return tuple(self._seen)

    def add(self, candidate: Candidate, plan: Plan) -> int:
        """Adds a legal candidate to the pool. Returns the number of candidates in the pool."""
        self._pool.append((candidate, predict(plan, self.constants)))
        return len(self._pool)

    def choose(self, share: float) -> tuple[str, ...]:
        """Keys of the pool's best candidates, the best first, and empties the pool. Returns the whole pool if
        the model's order has proved meaningless."""
        pool, self._pool = self._pool, []
        share = share if self.trusted else 1.0
        kept = worth([p for _, p in pool], self._seen, self.rng, share=share)
        chosen = [pool[i] for i in kept]
        self._aside.extend(pool[i] for i in range(len(pool)) if i not in set(kept))
        self._asked.update((candidate.key, prediction) for candidate, prediction in chosen)
        return tuple(candidate.key for candidate, _ in chosen)

    def rest(self) -> tuple[str, ...]:
        """Keys of all waiting candidates, the best first."""
        waiting, self._aside, self._pool = [*self._aside, *self._pool], [], []
        self._asked.update((candidate.key, prediction) for candidate, prediction in waiting)
        return tuple(waiting[i][0].key for i in rank([p for _, p in waiting]))

    def take(self, key: str) -> None:
        """Removes a waiting candidate, because it is measured after all."""
        for waiting in (self._pool, self._aside):
            for one in [w for w in waiting if w[0].key == key]:
                waiting.remove(one)
                self._asked[key] = one[1]

    def saw(self, key: str, seconds: float | None) -> None:
        """Records the result of a candidate."""
        prediction = self._asked.pop(key, None)
        if prediction is None or seconds is None:
            return
        self._seen.append((prediction, seconds))
        self._new += 1
        if self._new >= _REFIT:
            self._new = 0
            self._learn()

    def _learn(self) -> None:
        """Fits the constants to this device and renews the predictions."""
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
