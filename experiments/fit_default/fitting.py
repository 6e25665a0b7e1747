"""The costs under which the estimate agrees best with what was measured, and chooses best."""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

from scipy.optimize import differential_evolution

from experiments.fit_default.choice import Table, choices, geometric
from mdh.cost.gpu import PRODUCTS, Costs, seconds
from mdh.schedule.default.ladder import BlockTile

BOUNDS = {
    "vector": (0.0, 6.0), "loop": (0.0, 16.0), "copied": (0.0, 12.0), "warps_f32": (0.0, 2.0),
    "latency": (0.0, 1500.0), "slice": (0.0, 150.0), "block": (0.0, 2000.0), "stored": (0.0, 8.0),
    "added": (0.0, 16.0), "second": (0.0, 5e-6), "start": (0.0, 5e-6), "traffic": (0.1, 2.0),
    "worth": (1.0, 1.25), "reached": (0.3, 0.9), "launch": (0.0, 3e-6),
}  # fmt: skip
NEAR, FAR = (1.3, 3.0), (2.0, 1.0)
"""(of the best time, weight): what is near it matters, for among that the estimate has to choose."""
ELSE = 0.2
CHOOSING = 1.5
"""Weight of the choice beside that of the times."""


def fitted(given: Table, ladder: Sequence[BlockTile], start: Costs, turns: int, seed: int) -> Costs:
    """By differential evolution from `start` on."""
    weights = _weights(given, ladder)
    found: Any = differential_evolution(
        lambda x: loss(given, _costs(x), ladder, weights), list(BOUNDS.values()), maxiter=turns, popsize=8,
        seed=seed, polish=False, x0=[getattr(start, name) for name in BOUNDS], tol=1e-5,
    )  # fmt: skip
    return rounded(_costs(found.x))


def rounded(costs: Costs) -> Costs:
    """To what the data can tell apart."""
    return replace(costs, **{name: float(f"{getattr(costs, name):.3g}") for name in BOUNDS})


def _costs(x: Sequence[float]) -> Costs:
    return replace(PRODUCTS, **dict(zip(BOUNDS, map(float, x), strict=True)))


Weights = list[tuple[list[float], float]]


def _weights(given: Table, ladder: Sequence[BlockTile]) -> Weights:
    """Of each row of each of the sizes; the sum over those on the ladder."""
    out = []
    for pairs in given.rows.values():
        best = min(row.seconds for row, _ in pairs)
        own = []
        for row, _ in pairs:
            far = row.seconds / best
            weight = NEAR[1] if far < NEAR[0] else FAR[1] if far < FAR[0] else ELSE
            own.append(weight if row.tile in ladder else 0.0)
        out.append((own, sum(own)))
    return out


def loss(given: Table, costs: Costs, ladder: Sequence[BlockTile], weights: Weights | None = None) -> float:
    """The mean error of the times of tiles on the ladder, as a logarithm, and that of the chosen ones."""
    total, count = 0.0, 0
    for pairs, (own, all_of_them) in zip(
        given.rows.values(), weights or _weights(given, ladder), strict=True
    ):
        if not all_of_them:
            continue
        off = (
            w * abs(log(seconds(work, given.machine, costs) / row.seconds))
            for (row, work), w in zip(pairs, own, strict=True)
            if w
        )
        total, count = total + sum(off) / all_of_them, count + 1
    ratios = [c.ratio for c in choices(given, costs, ladder)]
    return total / max(1, count) + CHOOSING * log(geometric(ratios))
