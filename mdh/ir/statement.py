"""The statements of a program as they are written, and the stages that carry them out.

A statement is an assignment under loops. Its accesses are kept with their place in the text, because stages
are found by moving statements: `poly.legality` compares the two orders. Source of the terms (statement
instance, dependence, execution order): Feautrier and Lengauer, "Polyhedron Model", Encyclopedia of Parallel
Computing, 2011.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from mdh.ir.affine import Affine
from mdh.ir.clauses import EVERYWHERE, Domain
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class LoopVar:
    """A normalised loop: `name` (unique in the function) runs over 0 … extent-1, and C's variable is start +
    moved + step * name.

    moved: a function of the loops around it, without a constant. Zero unless the loop runs equally often
    wherever it starts. held: it is a loop of the program around stages, which runs its turns in order. That
    is no part of what the loop is: a statement beside it may be a stage over the same loop.
    """

    name: str
    cname: str
    start: int
    step: int
    extent: int
    span: Span
    moved: Affine = field(default_factory=Affine)
    held: bool = field(default=False, compare=False)

    def at(self, point: Mapping[str, int]) -> int:
        """C's variable, where the loops have the values of `point`."""
        return self.start + self.moved.evaluate(point) + self.step * point[self.name]


@dataclass(frozen=True, slots=True)
class Held:
    """A loop of a statement that is a loop of the program: its iteration number n runs in turn n + shift of
    `turns`. Statements with different loops `was` may share the turns.

    block: if not 1, `turns` count blocks of so many iterations, and iteration n is number n + shift - block *
    turn of its block, which the variable `inner` says. That is a loop of the statement, or other turns.
    count: the iterations of all blocks.
    """

    turns: LoopVar
    was: LoopVar
    shift: int = 0
    block: int = 1
    inner: str = ""
    count: int = 0

    @property
    def number(self) -> Affine:
        """The number of the turn, as a function of the statement's loop; of a block it is a number of its
        own."""
        if self.block > 1:
            return Affine.var(self.turns.name)
        return Affine.var(self.was.name).shift(self.shift)

    @property
    def within(self) -> Affine:
        """`inner`, as a function of the statement's loop and the number of the block."""
        return Affine.of({self.was.name: 1, self.turns.name: -self.block}, self.shift)

    @property
    def rest(self) -> Affine:
        """What is >= 0 where a block and `inner` are an iteration: the last block may have fewer."""
        return Affine.of({self.turns.name: -self.block, self.inner: -1}, self.count - 1)

    @property
    def bounds(self) -> tuple[Affine, ...]:
        """What is >= 0 in an iteration and its block."""
        return (self.within, self.within.scale(-1).shift(self.block - 1)) if self.block > 1 else ()


@dataclass(frozen=True, slots=True)
class TextAccess:
    """One access in the text: `buffer[index]`, made in each iteration of `loops`.

    index: one function of the loop variables for each dimension; None if it is data or not affine, so that it
    may be any element. position: grows along the text; a read comes before the write at the same position.
    domain: the access is made nowhere else. Names in it besides the loops' are integers that never change.
    """

    buffer: str
    index: tuple[Affine | None, ...]
    write: bool
    loops: tuple[LoopVar, ...]
    position: int
    span: Span = field(compare=False, repr=False)
    domain: Domain = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Statement:
    """An assignment with the `loops` around it, outermost first, and every access of its value, subscripts
    and conditions. Locals are written out: the accesses of a local's value belong to the place where that is
    computed. So an access may have fewer loops than its statement."""

    loops: tuple[LoopVar, ...]
    accesses: tuple[TextAccess, ...]
    span: Span = field(compare=False, repr=False)


class Phase(IntEnum):
    """The role of a statement in its result: start, scalar function, or epilogue. Epilogues are numbered from
    FINISH in their order."""

    START = 0
    UPDATE = 1
    FINISH = 2


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a stage carries out a statement: as result `result` of stage number `stage`, in `phase`.

    point: the coordinates of an instance in the dimensions that are not reduced, as functions of the
    statement's loop variables. Points of one stage have no order. scanned: which coordinates are those of
    prefix sums. carried: numbers of the accesses that go to the result's accumulator instead of memory, where
    the operator combines updates in any order (for a prefix sum, in C's order along the dimension).
    accumulator: the number of the statement that updates it. last: of all instances at a point only the last
    one counts, because it overwrites what the others store. turns: the loops of the program around the stage,
    outermost first, and the number of each one's turn as a function of the statement's loop variables.
    """

    stage: int
    result: int
    phase: int
    point: tuple[Affine, ...]
    scanned: tuple[bool, ...]
    carried: frozenset[int] = frozenset()
    accumulator: int = 0
    last: bool = False
    turns: tuple[tuple[str, Affine], ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement and where it is carried out. number: its position in the function."""

    number: int
    statement: Statement
    placement: Placement
