"""Constants from records: robust least squares of log seconds over the logs of the terms' weights."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mdh.cost.prediction import TERMS, Constants, Prediction, seconds_of

Array = np.ndarray[Any, np.dtype[np.float64]]
Pairs = Sequence[tuple[Prediction, float]]
"""Predictions and the seconds that were measured."""
ROUNDS = 12
RIDGE = 0.003
"""What a weight e times the given one costs, as squared error of each pair: what the pairs say nothing of
stays."""
FAR = 0.35
"""Log error from which on an error counts linearly (Huber), so that outliers do not lead."""
STEPS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
"""Shares of the way to the fitted weights."""
FEWEST = 8
"""Pairs below which nothing is fitted."""
PROGRAMS = 3
"""Programs from which on it can be judged whether constants fitted to some serve another one."""
GAIN = 0.01
"""Rank correlation that constants of the device must gain, at the mean of programs that they were not fitted
to: what fits a few programs often suits the next one less well than what mdh comes with."""
OWN = 12
"""Times of the program itself that constants are fitted to."""


def fit(constants: Constants, pairs: Pairs) -> Constants:
    """Constants with which predictions about these pairs are nearest to their seconds.

    Errors count within a program and its sizes, where predictions compete; then one factor for all brings the
    seconds right. Pairs of another kind of machine, or without a positive time, are left out. Of the steps on
    the way to the fitted weights that one is taken where the mean rank correlation over the programs is best,
    the given weights included: a fit never ranks these pairs worse.
    """
    used = [(p, s) for p, s in pairs if p.kind == constants.kind and 0.0 < s < float("inf")]
    if len(used) < FEWEST:
        return constants
    data = _Data(used)
    theta = data.solve(constants)
    # seconds that are nearer need not be in a better order: go as far that way as the order gains
    steps = [_scaled(constants, theta * part) for part in STEPS]
    fitted = max(steps, key=data.concordance)
    bias = float(np.median(data.errors(fitted)))
    return replace(fitted, weights=tuple(w * float(np.exp(bias)) for w in fitted.weights))


def concordance(constants: Constants, pairs: Pairs) -> float:
    """Rank correlation of predictions with seconds, at the mean over the programs."""
    return _Data(pairs).concordance(constants)


def begin(constants: Constants, known: Mapping[str, Pairs], about: str) -> tuple[Constants, int]:
    """Constants for the program and sizes `about`, and how many of the times they are fitted to.

    known: by program and sizes. The times of other programs count where, each left out in turn, the others'
    improve the order of its own; then those of the same program, which rank it best.
    """
    used = 0
    others = {name: pairs for name, pairs in known.items() if name != about and len(pairs) >= OWN}
    if len(others) >= PROGRAMS and _gain(constants, others) > GAIN:
        pairs = [pair for one in others.values() for pair in one]
        constants, used = fit(constants, pairs), len(pairs)
    own = known.get(about, ())
    if len(own) >= OWN:
        constants, used = fit(constants, own), used + len(own)
    return constants, used


def _gain(constants: Constants, known: Mapping[str, Pairs]) -> float:
    """Mean rank correlation that each program gains by constants fitted to the others."""
    gains = []
    for name, pairs in known.items():
        rest = [pair for other, one in known.items() if other != name for pair in one]
        gains.append(concordance(fit(constants, rest), pairs) - concordance(constants, pairs))
    return float(np.mean(gains))


def _scaled(constants: Constants, theta: Array) -> Constants:
    return replace(
        constants,
        weights=tuple(w * float(np.exp(t)) for w, t in zip(constants.weights, theta, strict=True)),
    )


class _Data:
    """The pairs as arrays: one row a stage, `owner` its pair; `groups` the pairs of each program."""

    def __init__(self, pairs: Pairs) -> None:
        rows = [(i, f) for i, (p, _) in enumerate(pairs) for f in p.features]
        self.features: Array = np.array([f for _, f in rows], dtype=np.float64)
        self.owner = np.array([i for i, _ in rows])
        self.seconds: Array = np.log(np.array([s for _, s in pairs], dtype=np.float64))
        found: dict[str, list[int]] = defaultdict(list)
        for i, (p, _) in enumerate(pairs):
            found[p.about].append(i)
        self.groups = [np.array(g) for g in found.values()]

    def predicted(self, constants: Constants) -> Array:
        each = seconds_of(constants, list(self.features.T))
        total = np.bincount(self.owner, weights=each, minlength=len(self.seconds)).astype(np.float64)
        logs: Array = np.log(np.maximum(total, 1e-12))
        return logs

    def errors(self, constants: Constants) -> Array:
        return self.seconds - self.predicted(constants)

    def centred(self, values: Array) -> Array:
        out = values.copy()
        for g in self.groups:
            out[g] -= np.median(values[g])
        return out

    def solve(self, constants: Constants) -> Array:
        """Gauss-Newton on log weights, errors weighted by Huber's rule, drawn towards zero."""
        n = len(TERMS[constants.kind])
        theta: Array = np.zeros(n)
        ridge = RIDGE * len(self.seconds)
        for _ in range(ROUNDS):
            here = _scaled(constants, theta)
            base = self.predicted(here)
            error = self.centred(self.seconds - base)
            slope = np.empty((len(base), n))
            for k in range(n):
                step = np.zeros(n)
                step[k] = 0.05
                slope[:, k] = self.centred((self.predicted(_scaled(here, step)) - base) / 0.05)
            weight = np.minimum(1.0, FAR / np.maximum(np.abs(error), 1e-9))
            left = slope.T @ (slope * weight[:, None]) + ridge * np.eye(n)
            right = slope.T @ (weight * error) - ridge * theta
            theta = np.clip(theta + np.clip(np.linalg.solve(left, right), -0.7, 0.7), -3.0, 3.0)
        return theta

    def concordance(self, constants: Constants) -> float:
        """Mean over the programs of the rank correlation of predictions with measurements."""
        predicted = self.predicted(constants)
        return float(
            np.mean([spearman(predicted[g], self.seconds[g]) for g in self.groups if len(g) > 2] or [0])
        )


def spearman(a: Array, b: Array) -> float:
    """Rank correlation; equal values share their mean rank; 0 where all are equal."""
    x, y = _ranks(np.asarray(a)), _ranks(np.asarray(b))
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / scale if scale else 0.0


def _ranks(values: Array) -> Array:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts).astype(np.float64)
    out: Array = (last - (counts - 1) / 2.0)[place]
    return out
