"""Loops of the C around several stages, whose iterations do not depend on one another."""

from dataclasses import dataclass, field

from mdh.source import Span


@dataclass(frozen=True, slots=True)
class ParallelLoop:
    """A loop of the C around stages, some of which run in turns, whose iterations do not depend on one
    another. So a unit may take some of the iterations and run all turns of all stages for them.

    name: in schedules. counter: C's variable. extent: the number of iterations. stages: the names of the
    stages, which follow one another. dims: of each stage, the name of the dimension that the loop is. turns:
    the variables of the loops of the program that are in it.
    """

    name: str
    counter: str
    extent: int
    stages: tuple[str, ...]
    dims: tuple[str, ...]
    turns: frozenset[str]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def dim_of(self) -> dict[str, str]:
        """The dimension of each stage."""
        return dict(zip(self.stages, self.dims, strict=True))


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """A loop whose iterations units share: each runs all of its stages, in all turns that are in the loop,
    for iterations of its own, in one kernel. first, last: the numbers of its stages among those with kernels.
    steps: how many steps of the loop come before those of each stage. units: of all layers together. part:
    the most iterations of a unit."""

    loop: ParallelLoop
    first: int
    last: int
    steps: int
    units: int
    part: int
