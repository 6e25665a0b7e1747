"""Points on spirals, one for each class: what the examples learn to tell apart."""

from itertools import pairwise
from typing import Any

import numpy as np

CLASSES = 3
Array = np.ndarray[Any, Any]


def spirals(count: int, seed: int = 0) -> tuple[Array, Array]:
    """The places of `count` points, and the numbers of their spirals."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, count).astype(np.int32)
    away = rng.uniform(0.05, 1.0, count)
    angle = 4.0 * away + 2 * np.pi * label / CLASSES + rng.normal(0.0, 0.1, count)
    return np.stack([away * np.sin(angle), away * np.cos(angle)], 1).astype(np.float32), label


def first_weights(widths: tuple[int, ...], seed: int = 1) -> list[Array]:
    """Weights and biases of the layers between these widths."""
    rng = np.random.default_rng(seed)
    out = list[Array]()
    for i, o in pairwise(widths):
        out += [rng.normal(0.0, (2 / i) ** 0.5, (i, o)).astype(np.float32), np.zeros(o, np.float32)]
    return out
