"""The model's selection: of a few drawn points the best predicted are measured, and the rest waits.

Nothing is dropped. What the model sets aside is measured, the best first, once the search has used up its
space. A share of it is measured anyway, so that a wrong model is noticed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from random import Random
from statistics import median

import numpy as np

from mdh.cost.fit import fit, spearman
from mdh.cost.predict import predict
from mdh.cost.prediction import NOMINAL, Constants, Prediction, seconds_of
from mdh.ir.plan import Plan

Seen = Sequence[tuple[Prediction, float]]
ENOUGH = 12
"""After this number of measured candidates, those that the model predicts to be slow are dropped."""
EXPLORE = 0.05
"""Chance of what is no favourite to be measured all the same, so that a wrong model is found out."""
SLACK = 1.5
"""Least factor to the best measured time that a prediction may lie above it."""
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
    sees: the plan that the model estimates in place of a candidate's. trusted: the model's order has not
    turned out to mean nothing. Names are keys of candidates."""

    kind: str
    rng: Random
    start: Constants | None = None
    sees: Callable[[Plan], Plan] = lambda plan: plan
    constants: Constants = field(init=False)
    trusted: bool = field(init=False, default=True)
    _pool: dict[str, Prediction] = field(default_factory=dict)
    _aside: dict[str, Prediction] = field(default_factory=dict)
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

    def add(self, key: str, plan: Plan) -> int:
        """Adds a legal candidate to the pool. Returns the number of candidates in the pool."""
        self._pool[key] = predict(self.sees(plan), self.constants)
        return len(self._pool)

    def choose(self, share: float) -> tuple[str, ...]:
        """Keys of the pool's best candidates, the best first, and empties the pool. Returns the whole pool if
        the model's order has proved meaningless."""
        pool, self._pool = self._pool, {}
        keys, share = tuple(pool), share if self.trusted else 1.0
        chosen = tuple(keys[i] for i in worth(tuple(pool.values()), self._seen, self.rng, share=share))
        self._asked.update((key, pool.pop(key)) for key in chosen)
        self._aside.update(pool)
        return chosen

    def rest(self) -> tuple[str, ...]:
        """Keys of all waiting candidates, the best first."""
        waiting, self._aside, self._pool = {**self._aside, **self._pool}, {}, {}
        self._asked.update(waiting)
        keys = tuple(waiting)
        return tuple(keys[i] for i in rank(tuple(waiting.values())))

    def take(self, key: str) -> None:
        """Removes a waiting candidate, because it is measured after all."""
        for waiting in (self._pool, self._aside):
            if key in waiting:
                self._asked[key] = waiting.pop(key)

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
        self._pool = {key: self._anew(p) for key, p in self._pool.items()}
        self._aside = {key: self._anew(p) for key, p in self._aside.items()}

    def _anew(self, prediction: Prediction) -> Prediction:
        seconds = sum(float(seconds_of(self.constants, f)) for f in prediction.features)
        return replace(prediction, seconds=seconds)


def rank(predictions: Sequence[Prediction]) -> tuple[int, ...]:
    """Indices, the best first; what no compiler takes is last. Equal ones stay in their order."""
    order = sorted(range(len(predictions)), key=lambda i: predictions[i].seconds)
    return tuple(sorted(order, key=lambda i: predictions[i].signs.hopeless))


def worth(
    predictions: Sequence[Prediction],
    seen: Seen,
    rng: Random,
    *,
    share: float = 0.25,
    explore: float = EXPLORE,
) -> tuple[int, ...]:
    """Indices of the predictions that are worth measuring: the favourites, the best first, at least one if
    there are any predictions; then others, each by chance: `explore` of them."""
    kept = favourites(predictions, seen, share=share)
    chosen = set(kept)
    others = [i for i in rank(predictions) if i not in chosen and rng.random() < explore]
    return (*kept, *others)


def favourites(predictions: Sequence[Prediction], seen: Seen, *, share: float) -> tuple[int, ...]:
    """Indices of the best, the best first: such a share of them, without those that must be expected to lose
    against the best time seen; at least one, if there are any."""
    if not predictions:
        return ()
    order = rank(predictions)
    count = max(1, round(share * len(order)))
    limit = _limit(seen)
    kept = [i for i in order[:count] if predictions[i].seconds <= limit and not predictions[i].signs.hopeless]
    return tuple(kept or order[:1])


def _limit(seen: Seen) -> float:
    """Predicted seconds above which a candidate is expected to lose, errors like those so far allowed for."""
    pairs = [(p.seconds, s) for p, s in seen if s > 0.0 and p.seconds > 0.0]
    if len(pairs) < ENOUGH:
        return float("inf")
    errors = [log(s / p) for p, s in pairs]
    middle = median(errors)
    spread = sorted(abs(e - middle) for e in errors)[len(errors) * 4 // 5]
    best = min(s for _, s in pairs)
    return best / exp(middle) * max(SLACK, exp(2.0 * spread))
