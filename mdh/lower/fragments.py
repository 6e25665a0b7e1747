"""Pipelined fragments: registers of the parts to come, loaded while the present part is computed on.

Registers have no addresses, so a slot's number must be known when the text is compiled: the loop is written
in turns of as many parts as there are slots, the turn's loop unrolled, or is unrolled as a whole (`@unroll`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, add, at_most, loop, mod, num, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, ForKind, Let, Stmt
from mdh.ir.layout import Level
from mdh.lower.copies import emit_copy
from mdh.lower.nest import Nest
from mdh.lower.scope import Scope
from mdh.lower.staged_copy import StagedCopy


@dataclass(frozen=True, slots=True)
class PipelinedLoop:
    """The loop over the first `trips` parts of a level from `start` on, whose copies lie in `slots` slots.
    trips: of the open sizes where they give it. unroll: as the schedule states it. point: inside of the loop,
    where the copies stand."""

    nest: Nest
    level: Level
    start: Expr
    trips: Expr | int
    slots: int
    unroll: int | None
    point: Scope

    @property
    def part(self) -> Expr:
        """The number of the present part."""
        return Var(self.level.var)

    def nth(self, part: int) -> Expr:
        """The number of the part that comes after `part` others."""
        return num(part) if self.start == ZERO else add(self.start, part)

    def limited(self) -> "PipelinedLoop":
        """The loop through the turns in which something changes, as the scope knows them."""
        turns = self.point.turns.get(self.level.var)
        if turns is None or stated(self.unroll)[0] is not ForKind.SEQ:
            return self
        last = turns.high
        trips = self.trips if last is None else Call(Intrinsic.IMIN, (num(self.trips), last), I32)
        return replace(self, start=self.start if turns.low is None else turns.low, trips=trips)

    def fill(self, copies: list[StagedCopy], slot: Affine, part: Expr) -> list[Stmt]:
        """Copy what belongs to a part into a slot."""
        at = self.point.with_values({self.level.var: part})
        return [s for c in copies for s in emit_copy(self.nest, c.into(slot), at)]


@dataclass(frozen=True, slots=True)
class Slot:
    """The variable that numbers the slot in which the present part lies; empty where no registers are slots.

    whole: the loop is unrolled as a whole.
    """

    name: str = ""
    whole: bool = False


Turn = Callable[[Slot], list[Stmt]]
"""Makes the code of one part."""


def first_fragments(pipeline: PipelinedLoop, copies: list[StagedCopy]) -> list[Stmt]:
    """The registers of all slots, and the parts that the first turn finds loaded."""
    out: list[Stmt] = [Alloc(c.dst.buf) for c in copies]
    if not copies:
        return out
    assert isinstance(pipeline.trips, int), "K118 refuses registers in loops whose trip count stays open"
    for part in range(min(pipeline.slots - 1, pipeline.trips)):
        out.extend(pipeline.fill(copies, Affine((), part), num(part)))
    return out


def next_fragments(pipeline: PipelinedLoop, copies: list[StagedCopy], slot: Slot) -> list[Stmt]:
    """Loads of the part that is slots - 1 ahead into the slot of the part before.

    Where the loop is not unrolled as a whole, the last turns load the last part again: a slot that nobody
    reads costs less than a branch between loads and arithmetic.
    """
    if not copies:
        return []
    nest, n = pipeline.nest, pipeline.slots
    assert isinstance(pipeline.trips, int), "K118 refuses registers in loops whose trip count stays open"
    ahead: Expr = add(pipeline.part, n - 1)
    last = num(pipeline.trips - 1)
    part, fill = nest.fresh(f"next_{pipeline.level.var}"), nest.fresh("fill")
    body: list[Stmt] = [
        Let(part, ahead if slot.whole else Call(Intrinsic.IMIN, (ahead, last), I32)),
        Let(fill, mod(add(Var(slot.name), n - 1), n)),
        *pipeline.fill(copies, Affine.var(fill), Var(part)),
    ]
    return when(at_most(ahead, last) if slot.whole else None, body)


def turns(pipeline: PipelinedLoop, turn: Turn, *, fragmented: bool) -> list[Stmt]:
    """The loop over all parts, with slot numbers that are known where registers are `fragmented`."""
    n, trips, unroll, var = pipeline.slots, pipeline.trips, pipeline.unroll, pipeline.level.var
    if not fragmented:
        return [loop(var, trips, turn(Slot()), *stated(unroll), start=pipeline.start)]
    assert isinstance(trips, int), "K118 refuses registers in loops whose trip count stays open"
    if unroll == 0 or trips <= n:
        slot = pipeline.nest.fresh(f"slot_{var}")
        let = Let(slot, mod(pipeline.part, n))
        return [loop(var, trips, [let, *turn(Slot(slot, whole=True))], ForKind.UNROLL)]
    count = trips // n * n
    first = pipeline.nest.fresh(f"{var}_first")
    kind, factor = stated(None if unroll is None else unroll // n)
    group = _group(pipeline, Var(first), n, turn)
    out: list[Stmt] = [loop(first, count, [group], kind, factor, step=n)]
    if count < trips:
        out.append(_group(pipeline, num(count), trips - count, turn))
    return out


def _group(pipeline: PipelinedLoop, first: Expr, parts: int, turn: Turn) -> Stmt:
    """Parts first, first + 1, …: part first + s lies in slot s."""
    var = pipeline.level.var
    slot = pipeline.nest.fresh(f"slot_{var}")
    return loop(slot, parts, [Let(var, add(first, Var(slot))), *turn(Slot(slot))], ForKind.UNROLL)


def stated(unroll: int | None) -> tuple[ForKind, int]:
    """Kind and factor of a loop as its step's `@unroll` says."""
    match unroll:
        case None:
            return ForKind.SEQ, 0
        case 0:
            return ForKind.UNROLL, 0
        case 1:
            return ForKind.SEQ, 1
        case n:
            return ForKind.UNROLL, n
