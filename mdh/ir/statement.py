"""The statements of a program as its author wrote them, and where the program's stages carry them out.

A statement is an assignment under loops. What it reads and writes is kept with the place in the text where
that happens, since stages are found by moving statements: `poly.legality` compares the two orders.
Source of the terms (statement instance, dependence, execution order): Feautrier and Lengauer, "Polyhedron
Model", Encyclopedia of Parallel Computing, 2011.
"""

from dataclasses import dataclass, field
from enum import IntEnum

from mdh.ir.affine import Affine
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class LoopVar:
    """A normalised loop: `name` (unique in the function) runs over 0 … extent-1.

    C's variable is start + step * name."""

    name: str
    cname: str
    start: int
    step: int
    extent: int
    span: Span


@dataclass(frozen=True, slots=True)
class Access:
    """One access in the text: `buffer[index]`, made in each iteration of `loops`.

    index: one function of the loop variables for each dimension, None where it is data or not affine (any
    element then). position: grows along the text; a read comes before the write at the same position.
    """

    buffer: str
    index: tuple[Affine | None, ...]
    write: bool
    loops: tuple[LoopVar, ...]
    position: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """An assignment: `loops` around it, outermost first, and every access that its value, its subscripts and
    its conditions make. Locals are written out: what a local's value reads is read where that is computed,
    so the loops of an access may be fewer than those of its statement."""

    loops: tuple[LoopVar, ...]
    accesses: tuple[Access, ...]
    span: Span = field(compare=False, repr=False)


class Phase(IntEnum):
    """What a statement is in its result: it gives the start, or the scalar function; then come epilogues,
    which are numbered on from FINISH in their order."""

    START = 0
    UPDATE = 1
    FINISH = 2


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a stage carries out a statement: result `result` of stage number `stage`, in `phase`.

    point: the coordinates of an instance in the dimensions that are not reduced, as functions of the
    statement's loop variables; scanned: which of them are prefix sums'. Points of one stage have no order.
    carried: numbers of the accesses that meet in the accumulator of the result and not in memory, where the
    operator combines updates in any order (for a prefix sum: in C's along the dimension). accumulator: the
    number of the statement that updates it. last: of all
    instances at a point only the last one counts, since it overwrites what the others store.
    """

    stage: int
    result: int
    phase: int
    point: tuple[Affine, ...]
    scanned: tuple[bool, ...]
    carried: frozenset[int] = frozenset()
    accumulator: int = 0
    last: bool = False


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """number: of the statement in the function."""

    number: int
    statement: Statement
    placement: Placement
