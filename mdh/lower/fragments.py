"""Pipelined fragments: registers of the parts to come, loaded while the present part is computed on.

Registers have no addresses, so a slot's number must be known when the text is compiled: the loop is written
in turns of as many parts as there are slots, the turn's loop unrolled, or is unrolled as a whole (`@unroll`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mdh.ir.affine import Affine
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, For, ForKind, If, Let, Stmt
from mdh.ir.layout import Level
from mdh.ir.plan import PlanStep
from mdh.lower.copies import Copy, emit_copy
from mdh.lower.nest import Nest, Scope


@dataclass(frozen=True, slots=True)
class Slot:
    """The variable that numbers the slot in which the present part lies; empty where no registers are slots.

    whole: the loop is unrolled as a whole.
    """

    name: str = ""
    whole: bool = False


def first_fragments(
    nest: Nest, copies: list[Copy], level: Level, trips: int, n: int, scope: Scope
) -> list[Stmt]:
    """The registers of all slots, and the parts that the first turn finds loaded."""
    out: list[Stmt] = [Alloc(c.dst.buf) for c in copies]
    for part in range(min(n - 1, trips)):
        at = replace(scope, values={**scope.values, level.var: Const(part, I32)})
        for c in copies:
            out.extend(emit_copy(nest, replace(c, dst=replace(c.dst, slot=Affine((), part))), at))
    return out


def next_fragments(
    nest: Nest, copies: list[Copy], level: Level, trips: int, n: int, slot: Slot, scope: Scope
) -> list[Stmt]:
    """Loads of the part n - 1 ahead into the slot of the part before.

    Where the loop is not unrolled as a whole, the last turns load the last part again: a slot that nobody
    reads costs less than a branch between loads and arithmetic.
    """
    if not copies:
        return []
    ahead: Expr = Binary("+", Var(level.var), Const(n - 1, I32), I32)
    last = Const(trips - 1, I32)
    part, fill = nest.fresh(f"next_{level.var}"), nest.fresh("fill")
    body: list[Stmt] = [
        Let(part, ahead if slot.whole else Call(Intrinsic.IMIN, (ahead, last), I32)),
        Let(fill, Binary("%", Binary("+", Var(slot.name), Const(n - 1, I32), I32), Const(n, I32), I32)),
    ]
    at = replace(scope, values={**scope.values, level.var: Var(part)})
    for c in copies:
        body.extend(emit_copy(nest, replace(c, dst=replace(c.dst, slot=Affine.var(fill))), at))
    return [If(Binary("<=", ahead, last, I32), tuple(body))] if slot.whole else body


def turns(
    nest: Nest,
    level: Level,
    trips: int,
    step: PlanStep,
    turn: Callable[[Slot], list[Stmt]],
    *,
    fragmented: bool,
) -> list[Stmt]:
    """The loop over all parts, with slot numbers that are known where registers are `fragmented`."""
    n, unroll = step.stages, step.unroll
    if not fragmented:
        return [_loop(level.var, trips, 1, turn(Slot()), *stated(unroll))]
    if unroll == 0 or trips <= n:
        slot = nest.fresh(f"slot_{level.var}")
        let = Let(slot, Binary("%", Var(level.var), Const(n, I32), I32))
        return [_loop(level.var, trips, 1, [let, *turn(Slot(slot, whole=True))], ForKind.UNROLL, 0)]
    count = trips // n * n
    first = nest.fresh(f"{level.var}_first")
    kind, factor = stated(None if unroll is None else unroll // n)
    group = _group(nest, level, Var(first), n, turn)
    out: list[Stmt] = [_loop(first, count, n, [group], kind, factor)]
    if count < trips:
        out.append(_group(nest, level, Const(count, I32), trips - count, turn))
    return out


def _group(nest: Nest, level: Level, first: Expr, parts: int, turn: Callable[[Slot], list[Stmt]]) -> Stmt:
    """Parts first, first + 1, …: part first + s lies in slot s."""
    slot = nest.fresh(f"slot_{level.var}")
    part = Let(level.var, Binary("+", first, Var(slot), I32))
    return _loop(slot, parts, 1, [part, *turn(Slot(slot))], ForKind.UNROLL, 0)


def _loop(var: str, stop: int, step: int, body: list[Stmt], kind: ForKind, factor: int) -> Stmt:
    return For(var, Const(0, I32), Const(stop, I32), Const(step, I32), tuple(body), kind, factor)


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
