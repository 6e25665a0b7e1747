"""Sizes that are drawn where a paper draws its own and does not list them."""

import random
from collections.abc import Sequence
from math import exp, log

SEED = 2018
COUNT = 100
_LEAST, _MOST, _STEP = 32, 16384, 32
_COARSE, _FINE = 128, 32
"""What Diesel's sizes are multiples of: large ones, and those below _COARSE."""


def drawn(rng: random.Random, least: float, most: float) -> float:
    """Even on a logarithmic scale, lest nearly all be large."""
    return exp(rng.uniform(log(least), log(most)))


def random_sizes() -> Sequence[tuple[int, int, int]]:
    """M, N and K of products: multiples of 32."""
    rng = random.Random(SEED)

    def size() -> int:
        return max(_LEAST, round(drawn(rng, _LEAST, _MOST) / _STEP) * _STEP)

    return [(size(), size(), size()) for _ in range(COUNT)]


def diesel_sizes() -> list[tuple[int, int, int]]:
    """The random sizes, rounded as that paper rounds: to multiples of 128, those below 128 of 32."""
    return [(_rounded(m), _rounded(n), _rounded(k)) for m, n, k in random_sizes()]


def _rounded(size: int) -> int:
    step = _FINE if size < _COARSE else _COARSE
    return round(size / step) * step
