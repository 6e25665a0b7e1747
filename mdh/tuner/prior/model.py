"""What the model says of a plan: seconds, what they are made of, and what stands against measuring it at
all."""

from dataclasses import dataclass

CODE = 16384
"""Statements of one unrolled body that compilers still take within a minute."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Reasons to expect worse than the seconds say, each of them hard.

    spills: register bytes a thread that will not stay in registers. idle: share of the cores or
    multiprocessors that get no work, over the seconds. code: statements of the unrolled body of the
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
    """seconds: of all kernels of the plan, warm caches, without transfers.

    terms: (name, seconds) over all stages, as they are before they overlap one another: their sum is more
    than `seconds`. features: a tuple of terms for each stage, seconds at the machine's nominal speeds, which
    `fit` takes; kind: `cpu` or `gpu`, whose constants they go with. about: program and sizes, for only
    predictions about the same ones compete with one another.
    """

    seconds: float
    terms: tuple[tuple[str, float], ...]
    features: tuple[tuple[float, ...], ...]
    signs: Signs
    kind: str
    about: str = ""
