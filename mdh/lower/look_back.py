"""Prefix sums in one pass: a block adds up what the blocks before it have published, as far back as needed.

Source: decoupled look-back (Merrill and Garland 2016): every block publishes its part's total (state 1), then
the total through its part (state 2). It walks back from its predecessor over totals until it meets a state 2.
Blocks are numbered by a ticket, so that all predecessors have started, and waiting for them ends.
"""

from collections.abc import Callable

from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.kernel import Alloc, Atomic, Barrier, Buf, Fence, If, Let, Space, Stmt, Store, While
from mdh.ir.program import Buffer
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.names import Names
from mdh.lower.nest import Nest

WARP = 32
NOTHING, TOTAL, THROUGH = (Const(n, I32) for n in range(3))
"""What a block has published of an element: nothing yet, its own total, the total through it."""


def draw_ticket(nest: Nest, tile: str) -> list[Stmt]:
    """`tile` is defined as the block's number in the order of starting."""
    zero = (Const(0, I32),)
    drawn = nest.declare(Buf(f"tile_{nest.name}", Space.SM, I32, (1,), (1,)))
    nest.managed.add(drawn.name)
    ticket = nest.fresh("ticket")
    draw: tuple[Stmt, ...] = (
        Atomic("+", nest.counter, zero, Const(1, I32), ticket),
        Store(drawn.name, zero, Var(ticket)),
    )
    if nest.threads == 1:
        return [*draw, Let(tile, Load(drawn.name, zero, I32))]
    return [
        If(Binary("==", Var(nest.tid), Const(0, I32), I32), draw),
        Barrier("block", "every thread learns the block's number"),
        Let(tile, Load(drawn.name, zero, I32)),
    ]


def look_back_buffers(
    names: Names, stem: str, shape: tuple[int, ...], t: DType
) -> tuple[Buffer, Buffer, Buffer]:
    """States, totals and totals through each part; dim 0 is the part, the others those of the elements."""
    return (
        Buffer(names.workspace(f"{stem}state"), I32, shape, temp=True),
        Buffer(names.workspace(f"{stem}total"), t, shape, temp=True),
        Buffer(names.workspace(f"{stem}through"), t, shape, temp=True),
    )


def look_back(
    nest: Nest, f: int, total: Expr, part: Expr, element: tuple[Expr, ...], unit: Expr, group: Expr,
    groups: int, exists: Expr | None, out: list[Stmt],
) -> Expr:  # fmt: skip
    """The combination of all parts before `part`, known to all threads of the group.

    total: of the block's part. unit: a thread's number among those that share the element, from 0.
    """
    fold, t = nest.folds[f], nest.folds[f].types[0]
    slot = nest.declare(Buf(f"passed_{t.name}", Space.SM, t, (groups,), (1,)))
    lanes = WARP if _one_warp(nest, unit, groups) else 1
    first = Binary("==", unit, Const(0, I32), I32)
    states, totals, through = nest.passes[f]
    mine = (part, *element)
    publish: list[Stmt] = [
        Store(totals, mine, total),
        Fence(),
        Store(states, mine, TOTAL),
    ]
    before = Buf(nest.fresh("before"), Space.RM, t, (), ())
    known = Load(before.name, (), t)
    finish: list[Stmt] = [
        Store(through, mine, combine(fold, (known,), (total,))[0]),
        Fence(),
        Store(states, mine, THROUGH),
        Store(slot.name, (group,), known),
    ]
    walk = [Alloc(before, identity(fold)[0]), *_walk(nest, f, part, element, unit, lanes, before)]
    if lanes == 1:
        body: list[Stmt] = [If(first, (*publish, *walk, *finish))]
    else:
        among = Binary("<", unit, Const(lanes, I32), I32)
        body = [If(first, tuple(publish)), If(among, (*walk, If(first, tuple(finish))))]
    out.extend(body if exists is None else [If(exists, tuple(body))])
    name = nest.fresh("passed")
    out.append(Let(name, Load(slot.name, (group,), t), t))
    return Var(name, t)


def _one_warp(nest: Nest, unit: Expr, groups: int) -> bool:
    """Units 0 to 31 are the lanes of one warp: all threads share an element, in the hardware's numbering."""
    levels = nest.thread_levels()
    return groups == 1 and len(levels) == 1 and nest.threads >= WARP and isinstance(unit, Var)


def _walk(
    nest: Nest, f: int, part: Expr, element: tuple[Expr, ...], lane: Expr, lanes: int, before: Buf
) -> list[Stmt]:
    """`before` takes in the predecessors, `lanes` of them at a time."""
    fold, t = nest.folds[f], nest.folds[f].types[0]
    states, totals, through = nest.passes[f]
    last = Buf(nest.fresh("last"), Space.RM, I32, (), ())
    state = Buf(nest.fresh("state"), Space.RM, I32, (), ())
    value = Buf(nest.fresh("value"), Space.RM, t, (), ())
    j = nest.fresh("j")
    there = (Var(j), *element)
    seen, held = Load(state.name, (), I32), Load(value.name, (), t)
    read: tuple[Stmt, ...] = (
        While(Binary("==", Load(states, there, I32), NOTHING, I32), ()),
        Store(state.name, (), Load(states, there, I32)),
        Fence(),
        If(
            Binary("==", seen, THROUGH, I32),
            (Store(value.name, (), Load(through, there, t)),),
            (Store(value.name, (), Load(totals, there, t)),),
        ),
    )
    at = Load(last.name, (), I32)
    turn: list[Stmt] = [
        Let(j, at if lanes == 1 else Binary("-", at, lane, I32)),
        # before the first part there is nothing, which ends the walk like a total through it
        Alloc(state, THROUGH),
        Alloc(value, identity(fold)[0]),
        If(Binary(">=", Var(j), Const(0, I32), I32), read),
    ]
    here: Expr = held
    if lanes > 1:
        nearest = _nearest(nest, Select(Binary("==", seen, THROUGH, I32), lane, Const(lanes, I32), I32), turn)
        turn.append(If(Binary(">", lane, nearest, I32), (Store(value.name, (), identity(fold)[0]),)))
        here = _over_lanes(nest, fold, held, turn)
        done: Expr = Binary("<", nearest, Const(lanes, I32), I32)
    else:
        done = Binary("==", seen, THROUGH, I32)
    turn.append(Store(before.name, (), combine(fold, (here,), (Load(before.name, (), t),))[0]))
    further = Binary("-", at, Const(lanes, I32), I32)
    turn.append(Store(last.name, (), Select(done, Const(-1, I32), further, I32)))
    start = Binary("-", part, Const(1, I32), I32)
    return [Alloc(last, start), While(Binary(">=", at, Const(0, I32), I32), tuple(turn))]


def _nearest(nest: Nest, lane: Expr, out: list[Stmt]) -> Expr:
    """The least `lane` of the warp."""
    return _butterfly(nest, "nearest", I32, lane, lambda a, b: Call("imin", (a, b), I32), out)


def _over_lanes(nest: Nest, fold: Fold, value: Expr, out: list[Stmt]) -> Expr:
    t = fold.types[0]
    return _butterfly(nest, "parts", t, value, lambda a, b: combine(fold, (a,), (b,))[0], out)


def _butterfly(
    nest: Nest, stem: str, t: DType, value: Expr, op: Callable[[Expr, Expr], Expr], out: list[Stmt]
) -> Expr:
    """The combination over a warp's lanes, known to all of them."""
    held = _named(nest, stem, t, value, out)
    offset = 1
    while offset < WARP:
        other = _named(nest, stem, t, Call("shfl_xor", (held, Const(offset, I32)), t), out)
        held = _named(nest, stem, t, op(held, other), out)
        offset *= 2
    return held


def _named(nest: Nest, stem: str, t: DType, value: Expr, out: list[Stmt]) -> Expr:
    name = nest.fresh(stem)
    out.append(Let(name, value, t))
    return Var(name, t)
