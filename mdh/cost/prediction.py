"""What the cost model says of a plan, and how seconds are made of its terms."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdh.cost.gpu import Number, joined

EDITION = 3
"""Number of the meaning of the terms. Times that were kept with another edition are not used."""
TERMS = {
    "cpu": (
        "arithmetic", "loads", "chains", "spills", "loops", "packing", "guards", "l2", "l3", "dm", "jumps",
        "pages", "groups", "launch",
    ),
    "gpu": (
        "arithmetic", "issue", "shared", "l1", "l2", "dm", "latency", "spills", "combine", "launch",
    ),
}  # fmt: skip
"""The names of the terms, for each kind of machine."""
CODE = 16384
"""Statements of one unrolled body that compilers still take within a minute."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Reasons to avoid a plan that are not part of its seconds.

    spills: register bytes of a thread that do not fit into registers. idle: share of the cores or
    multiprocessors that get no work, as a mean over the seconds. code: statements of the unrolled body of the
    largest kernel.
    """

    spills: int = 0
    idle: float = 0.0
    code: int = 0

    @property
    def hopeless(self) -> bool:
        """No compiler takes that much code in the time that a trial has."""
        return self.code > CODE


@dataclass(frozen=True, slots=True)
class Prediction:
    """seconds: of all kernels of the plan, with warm caches and without transfers to the device.

    terms: (name, seconds) over all stages, before they overlap one another: their sum is more than `seconds`.
    features: for each stage the terms at the machine's nominal speeds; `fit` takes them. kind: `cpu` or
    `gpu`. about: program, sizes and machine. Only predictions with the same `about` compete.
    """

    seconds: float
    terms: tuple[tuple[str, float], ...]
    features: tuple[tuple[float, ...], ...]
    signs: Signs
    kind: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Constants:
    """What the machine file does not say.

    kind: `cpu` or `gpu`. weights: for each term of that kind the factor of its nominal seconds. overlap:
    exponent with which terms that run at the same time are joined (see `mdh.cost.gpu.joined`).
    """

    kind: str
    weights: tuple[float, ...]
    overlap: float = 2.5


CPU = Constants("cpu", (1.01, 0.66, 0.30, 0.23, 0.51, 0.27, 0.33, 0.44, 0.56, 0.63, 0.24, 0.47, 0.46, 0.45))
"""Fitted to eight programs on two cores of an AVX2 server with PoCL 3.0 (`scripts/cost-check`). Other CPUs
differ mostly in speed, which their machine files say."""
GPU = Constants("gpu", (1.0,) * len(TERMS["gpu"]))
"""Nominal: the terms are from data sheets and published kernels."""
NOMINAL = {"cpu": CPU, "gpu": GPU}


def seconds_of(constants: Constants, features: Sequence[Number]) -> Number:
    """Seconds of a stage from its terms. The terms may be arrays, one element for each of many stages."""
    w = [a * b for a, b in zip(constants.weights, features, strict=True)]
    p = constants.overlap
    if constants.kind == "cpu":
        arithmetic, loads, chains, spills, loops, packing, guards = w[:7]
        l2, l3, dm, jumps, pages, groups, launch = w[7:]
        core = joined(3.0, arithmetic, loads, chains) + spills + loops + packing + guards
        return joined(p, core, l2 + l3 + jumps + pages, dm) + groups + launch
    arithmetic, issue, shared, l1, l2, dm, latency, spills, combine, launch = w
    return joined(p, arithmetic, issue, shared, l1, l2, dm, latency) + spills + combine + launch
