"""What the model does not know from the machine file, a set a kind of machine, and how terms become
seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mdh.tuner.prior import cpu, gpu

EDITION = 1
"""Of what the terms mean: another one makes what was learned before it void."""
Number = Any
"""A float, or an array of them."""
NAMES = {"cpu": cpu.TERMS, "gpu": gpu.TERMS}


@dataclass(frozen=True, slots=True)
class Constants:
    """kind: `cpu` or `gpu`. weights: for each term of that kind, what its nominal seconds are multiplied by
    (no unit). overlap: exponent with which what runs at the same time is joined: 1 a sum, large the maximum.
    """

    kind: str
    weights: tuple[float, ...]
    overlap: float = 2.5


CPU = Constants("cpu", (1.01, 0.66, 0.30, 0.23, 0.51, 0.27, 0.33, 0.44, 0.56, 0.63, 0.24, 0.47, 0.46, 0.45))
"""Fitted to eight programs on two cores of an AVX2 server with PoCL 3.0 (`scripts/prior-check`); ratios of
cycles carry over to its likes, `fit` does the rest."""
GPU = Constants("gpu", (1.0,) * len(gpu.TERMS))
"""Nominal: from data sheets and published kernels."""
NOMINAL = {"cpu": CPU, "gpu": GPU}


def seconds_of(constants: Constants, features: Sequence[Number]) -> Number:
    """Seconds of a stage from its terms; with an array for each term, of many stages."""
    w = [a * b for a, b in zip(constants.weights, features, strict=True)]
    p = constants.overlap
    if constants.kind == "cpu":
        arithmetic, loads, chains, spills, loops, packing, guards = w[:7]
        l2, l3, dm, jumps, pages, groups, launch = w[7:]
        core = _joined(3.0, arithmetic, loads, chains) + spills + loops + packing + guards
        return _joined(p, core, l2 + l3 + jumps + pages, dm) + groups + launch
    arithmetic, issue, shared, l1, l2, dm, latency, spills, combine, launch = w
    return _joined(p, arithmetic, issue, shared, l1, l2, dm, latency) + spills + combine + launch


def _joined(p: float, *terms: Number) -> Number:
    """Of terms that overlap one another: the p-norm, between their sum and the largest of them."""
    total = terms[0] ** p
    for t in terms[1:]:
        total = total + t**p
    return total ** (1.0 / p)
