"""The costs under which the estimate for convolutions agrees best with what was measured."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log

from experiments.fit_default.window_choice import Known, Table
from mdh.cost.gpu import Costs, seconds

BOUNDS = {
    "word": (0.2, 12.0), "vector": (0.5, 60.0), "loop": (2.0, 300.0), "copied": (0.2, 30.0),
    "warps": (0.2, 20.0), "latency": (30.0, 2000.0), "reached": (0.1, 1.0),
}  # fmt: skip
"""What is fitted. A call's launch and a second kernel's are as they are."""
NEAR = 0.02
"""Estimates that differ by this much, as a logarithm, are nearly equal: which of them is the least is chance,
so the loss of a choice is the mean over all, each weighted by exp(-how far it is from the least / NEAR)."""
TIMES = 0.5
"""Weight of the times' squared errors beside the choice."""
MOST = 0.5
"""Of an error, as a logarithm: what is farther off than that is no worse."""
WIDTH = (0.5, 0.08)
"""Of a step, as a logarithm, first and last."""
STEPS = (1, 1, 2, 3)
"""Costs that a step changes."""


@dataclass(frozen=True, slots=True)
class Search:
    """From the middle of all bounds on, lest costs that know what was measured lead it. turns: estimates of
    everything; fewer where `limit` seconds are over before."""

    turns: int
    seed: int
    limit: float = inf


@dataclass(frozen=True, slots=True)
class Found:
    """turns: how many were made."""

    costs: Costs
    loss: float
    turns: int


def fitted(given: Table, start: Costs, search: Search) -> Found:
    """By random steps, of which those stay that lower the loss; what BOUNDS does not name is `start`'s."""
    end = time.monotonic() + search.limit
    rng = random.Random(search.seed)
    best = {name: (low * high) ** 0.5 for name, (low, high) in BOUNDS.items()}
    least, turns = loss(given, replace(start, **best)), 1
    while turns < search.turns and time.monotonic() < end:
        width = WIDTH[0] * (WIDTH[1] / WIDTH[0]) ** (turns / search.turns)
        tried = dict(best)
        for name in rng.sample(list(BOUNDS), rng.choice(STEPS)):
            low, high = BOUNDS[name]
            tried[name] = min(high, max(low, tried[name] * exp(rng.gauss(0, width))))
        now = loss(given, replace(start, **tried))
        turns += 1
        if now < least:
            best, least = tried, now
    rounded = replace(start, **{name: float(f"{value:.3g}") for name, value in best.items()})
    return Found(rounded, loss(given, rounded), turns)


def loss(given: Table, costs: Costs) -> float:
    """Means over the convolutions: how far the choice is from the best, and the times' errors."""
    total = 0.0
    for rows in given.rows.values():
        said = [log(seconds(k.work, given.machine, costs)) for k in rows]
        took = [log(k.row.seconds) for k in rows]
        off = sum(min(abs(s - t), MOST) ** 2 for s, t in zip(said, took, strict=True)) / len(rows)
        total += _chosen(rows, said, took) + TIMES * off
    return total / max(1, len(given.rows))


def _chosen(rows: Sequence[Known], said: Sequence[float], took: Sequence[float]) -> float:
    """How far it is from the best, as a logarithm; today's plans are what there is to choose from."""
    mine = [(s, t) for k, s, t in zip(rows, said, took, strict=True) if k.place is not None]
    first, best = min((s for s, _ in mine), default=0.0), min(took)
    weights = [exp((first - s) / NEAR) for s, _ in mine]
    return sum(w * (t - best) for w, (_, t) in zip(weights, mine, strict=True)) / (sum(weights) or 1.0)
