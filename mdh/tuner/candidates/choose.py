"""Which of some drawn candidates to try: the best predicted ones, and now and then another.

The loop of a tuner draws legal points, predicts each, and asks:

    kept = worth(predictions, seen, rng)      # indices, best first
    for i in kept: propose(points[i])

`seen` are the predictions that were measured, with their seconds. The model is only believed as far as it was
right about them.
"""

from collections.abc import Sequence
from math import exp, log
from random import Random
from statistics import median

from mdh.cost.prediction import Prediction

Seen = Sequence[tuple[Prediction, float]]
ENOUGH = 12
"""Measured candidates from which on the model's errors are known well enough to drop what it says is slow."""
EXPLORE = 0.05
"""Chance of what is no favourite to be measured all the same, so that a wrong model is found out."""
SLACK = 1.5
"""Least factor to the best measured time that a prediction may lie above it."""


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
