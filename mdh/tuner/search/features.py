"""Points as rows of numbers between 0 and 1, for models that measure how far apart points are.

A tile is its logarithm, and so is its ratio to the next tile of its dimension (how many threads share it, how
often a loop turns); other numbers are their place among the values; words are compared for equality only.
"""

from itertools import pairwise
from math import log2

import numpy as np
from numpy.typing import NDArray

from mdh.results.trial import Value
from mdh.results.variable import Kind, Point, Variable
from mdh.tuner.search.encoding import chains_of

Matrix = NDArray[np.float64]


class Features:
    """numbers, words: how many columns of each kind a row has, numbers first."""

    def __init__(self, variables: tuple[Variable, ...]) -> None:
        open_ = [i for i, v in enumerate(variables) if len(v.values) > 1]
        self._scales = {i: _scale(variables[i]) for i in open_ if variables[i].kind is not Kind.WORD}
        self._codes = {
            i: {x: float(n) for n, x in enumerate(variables[i].values)}
            for i in open_
            if variables[i].kind is Kind.WORD
        }
        self._pairs = [
            (a, b, log2(max(variables[a].extent, 2)))
            for chain in chains_of(variables)
            for a, b in pairwise(chain)
        ]
        self._sums = _sums(variables, self._pairs)
        self.numbers = len(self._scales) + len(self._pairs) + len(self._sums)
        self.words = len(self._codes)

    def row(self, point: Point) -> Matrix:
        out = [scale[point[i]] for i, scale in self._scales.items()]
        out += [_ratio(point[a], point[b]) / span for a, b, span in self._pairs]
        out += [
            sum(_ratio(point[a], point[b] if b >= 0 else 1) for a, b in s) / span for s, span in self._sums
        ]
        out += [codes[point[i]] for i, codes in self._codes.items()]
        return np.array(out)


def _sums(
    variables: tuple[Variable, ...], pairs: list[tuple[int, int, float]]
) -> list[tuple[tuple[tuple[int, int], ...], float]]:
    """Over the dimensions: the volume of the tiles of each step, and of the ratios between the same steps."""
    groups: dict[tuple[str, int, int], list[tuple[int, int, float]]] = {}
    for i, v in enumerate(variables):
        if v.kind is Kind.TILE and v.extent:
            groups.setdefault((v.stage, v.step, -1), []).append((i, -1, log2(max(v.extent, 2))))
    for a, b, span in pairs:
        key = (variables[a].stage, variables[a].step, variables[b].step)
        groups.setdefault(key, []).append((a, b, span))
    return [
        (tuple((a, b) for a, b, _ in group), sum(s for _, _, s in group))
        for group in groups.values()
        if len(group) > 1
    ]


def _scale(variable: Variable) -> dict[Value, float]:
    if variable.kind is Kind.TILE:
        logs = [log2(max(x, 1)) if isinstance(x, int) else 0.0 for x in variable.values]
        span = (max(logs) - min(logs)) or 1.0
        return {x: (y - min(logs)) / span for x, y in zip(variable.values, logs, strict=True)}
    return {x: n / (len(variable.values) - 1) for n, x in enumerate(variable.values)}


def _ratio(outer: Value, inner: Value) -> float:
    if isinstance(outer, int) and isinstance(inner, int):
        return log2(max(outer, 1) / max(inner, 1))
    return 0.0
