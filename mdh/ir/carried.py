"""What stages have that are reduced together, in one pass over their terms (`online`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.ir.expr import Const, Expr


@dataclass(frozen=True, slots=True)
class Carried:
    """A reduced stage whose partial results go on from one part of the pass to the next.

    buffer: the array that they stand in. start: what they begin at. beside: arrays that the stage writes at
    the same places, for the stages that read its results, and what these begin at, if anything. along: its
    reduced dimensions, each with the dimension of the host that it goes along.
    """

    host: str
    buffer: str
    start: Const
    beside: tuple[tuple[str, Const | None], ...]
    along: tuple[tuple[str, str], ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        return (self.buffer, *(name for name, _ in self.beside))

    @property
    def starts(self) -> tuple[tuple[str, Const | None], ...]:
        return ((self.buffer, self.start), *self.beside)


@dataclass(frozen=True, slots=True)
class OnePass:
    """What the host of a pass does besides its own reduction.

    carried: by the name of the stage, in the order of the C. scales: by result, what its partial results are
    multiplied by when those of `carried` have changed. finishing: by result, the sum as the C means it, from
    component 0, which was summed. None: nothing.
    """

    carried: tuple[tuple[str, Carried], ...]
    scales: tuple[Expr | None, ...]
    finishing: tuple[Expr | None, ...]

    def expressions(self) -> Iterator[Expr]:
        return (e for e in (*self.scales, *self.finishing) if e is not None)

    @property
    def arrays(self) -> tuple[str, ...]:
        return tuple(b for _, c in self.carried for b in c.arrays)
