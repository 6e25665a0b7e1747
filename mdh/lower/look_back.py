"""Prefix sums in one pass: a block adds up what the blocks before it have published, as far back as needed.

Source: decoupled look-back (Merrill and Garland 2016): every block publishes its part's total (state 1), then
the total through its part (state 2). It walks back from its predecessor over totals until it meets a state 2.
Blocks are numbered by a ticket, so that all predecessors have started, and waiting for them ends.

A value of up to 32 bits travels in one word with its state, so that who sees the state has the value: neither
side needs a fence. Wider values have words of their own, which a fence on either side orders.
"""

from mdh.hardware import Space, SyncScope
from mdh.ir.construct import ZERO, at_least, at_most, equal, less, sub, when
from mdh.ir.dtype import I32, U64, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Atomic, Barrier, Buf, Fence, If, Let, Stmt, Store, While
from mdh.ir.program import Buffer
from mdh.language import LANGUAGES
from mdh.lower.finish import named
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.names import Names
from mdh.lower.nest import Nest
from mdh.lower.threads import WARP

PACKED_BITS = 32
"""The widest value that shares a word with its state."""
NOTHING, TOTAL, THROUGH = (Const(n, I32) for n in range(3))
"""What a block has published of an element: nothing yet, its own total, the total through it."""


def draw_ticket(nest: Nest, tile: str) -> list[Stmt]:
    """`tile` is defined as the block's number in the order of starting."""
    zero = (ZERO,)
    drawn = nest.declare(Buf(f"tile_{nest.name}", Space.SM, I32, (1,), (1,)))
    nest.declarations.synchronise([drawn])
    ticket = nest.fresh("ticket")
    draw = (
        Atomic("+", nest.counter, zero, Const(1, I32), ticket),
        Store(drawn.name, zero, Var(ticket)),
    )
    if nest.threads == 1:
        return [*draw, Let(tile, Load(drawn.name, zero, I32))]
    return [
        If(equal(Var(nest.tid), 0), draw),
        Barrier(SyncScope.BLOCK, "every thread learns the block's number"),
        Let(tile, Load(drawn.name, zero, I32)),
    ]


def look_back_buffers(
    names: Names, stem: str, shape: tuple[int, ...], t: DType, target: str
) -> tuple[Buffer, ...]:
    """Words of states and values where they fit together, else states, totals and totals through each part;
    the first one begins as zeros. Dim 0 is the part, the others those of the elements."""
    if LANGUAGES[target].packed_words and t.bits <= PACKED_BITS:
        return (Buffer(names.workspace(f"{stem}passed"), U64, shape, temp=True),)
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
    first = equal(unit, 0)
    mine = (part, *element)
    publish = _publish(nest.passes[f], mine, TOTAL, total)
    before = nest.register("before", t)
    known = Load(before.name, (), t)
    finish: list[Stmt] = [
        *_publish(nest.passes[f], mine, THROUGH, combine(fold, (known,), (total,))[0]),
        Store(slot.name, (group,), known),
    ]
    walk = [Alloc(before, identity(fold)[0]), *_walk(nest, f, part, element, unit, lanes, before)]
    if lanes == 1:
        body: list[Stmt] = [If(first, (*publish, *walk, *finish))]
    else:
        among = less(unit, lanes)
        body = [If(first, tuple(publish)), If(among, (*walk, If(first, tuple(finish))))]
    out.extend(when(exists, body))
    return named(nest, "passed", Load(slot.name, (group,), t), out)


def _publish(spaces: tuple[str, ...], where: tuple[Expr, ...], state: Const, value: Expr) -> list[Stmt]:
    """The value and its state at the block's place; nobody sees the state without the value."""
    if len(spaces) == 1:
        return [Store(spaces[0], where, _packed(state, value))]
    states, totals, through = spaces
    return [Store(totals if state is TOTAL else through, where, value), Fence(), Store(states, where, state)]


def _packed(state: Const, value: Expr) -> Expr:
    return Call(Intrinsic.PACKED, (state, value), U64)


def _state(word: Expr) -> Expr:
    return Cast(Binary(">>", word, Const(PACKED_BITS, I32), U64), I32)


def _one_warp(nest: Nest, unit: Expr, groups: int) -> bool:
    """Units 0 to 31 are the lanes of one warp: all threads share an element, in the hardware's numbering."""
    levels = nest.thread_levels()
    return groups == 1 and len(levels) == 1 and nest.threads >= WARP and isinstance(unit, Var)


def _walk(
    nest: Nest, f: int, part: Expr, element: tuple[Expr, ...], lane: Expr, lanes: int, before: Buf
) -> list[Stmt]:
    """`before` takes in the predecessors, `lanes` of them at a time."""
    fold, t = nest.folds[f], nest.folds[f].types[0]
    last = nest.register("last", I32)
    at = Load(last.name, (), I32)
    j = nest.fresh("j")
    turn: list[Stmt] = [Let(j, at if lanes == 1 else sub(at, lane))]
    there = (Var(j), *element)
    known = (_read_word if len(nest.passes[f]) == 1 else _read_apart)(nest, f, there, turn)
    through, here = known
    if lanes > 1:
        nearest = named(nest, "nearest", Call(Intrinsic.FIRST_LANE, (through,), I32), turn)
        later = at_most(lane, nearest)
        here = _over_lanes(nest, fold, Select(later, here, identity(fold)[0], t), turn)
        through = less(nearest, lanes)
    turn.append(Store(before.name, (), combine(fold, (here,), (Load(before.name, (), t),))[0]))
    further = sub(at, lanes)
    turn.append(Store(last.name, (), Select(through, Const(-1, I32), further, I32)))
    start = sub(part, 1)
    return [Alloc(last, start), While(at_least(at, 0), tuple(turn))]


def _read_word(nest: Nest, f: int, there: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, Expr]:
    """(is it the total through the part, the value) of what has been published at `there`, once it is."""
    fold, t = nest.folds[f], nest.folds[f].types[0]
    word = nest.register("word", U64)
    seen = Load(word.name, (), U64)
    read = Store(word.name, (), Load(nest.passes[f][0], there, U64))
    # before the first part there is nothing, which ends the walk like a total through it
    out.append(Alloc(word, _packed(THROUGH, identity(fold)[0])))
    wait = While(equal(_state(seen), NOTHING), (read,))
    out.append(If(at_least(there[0], 0), (read, wait)))
    value = named(nest, "value", Call(Intrinsic.UNPACKED, (seen,), t), out)
    return equal(_state(seen), THROUGH), value


def _read_apart(nest: Nest, f: int, there: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, Expr]:
    """The same where states and values have words of their own."""
    fold, t = nest.folds[f], nest.folds[f].types[0]
    states, totals, through = nest.passes[f]
    state = nest.register("state", I32)
    value = nest.register("value", t)
    seen, held = Load(state.name, (), I32), Load(value.name, (), t)
    read: tuple[Stmt, ...] = (
        While(equal(Load(states, there, I32), NOTHING), ()),
        Store(state.name, (), Load(states, there, I32)),
        Fence(),
        If(
            equal(seen, THROUGH),
            (Store(value.name, (), Load(through, there, t)),),
            (Store(value.name, (), Load(totals, there, t)),),
        ),
    )
    out += [
        Alloc(state, THROUGH),
        Alloc(value, identity(fold)[0]),
        If(at_least(there[0], 0), read),
    ]
    return equal(seen, THROUGH), held


def _over_lanes(nest: Nest, fold: Fold, value: Expr, out: list[Stmt]) -> Expr:
    """The combination over a warp's lanes, of which a higher one holds an earlier part."""
    t = fold.types[0]
    held: Expr = named(nest, "parts", value, out)
    offset = 1
    while offset < WARP:
        other = named(nest, "parts", Call(Intrinsic.SHFL_XOR, (held, Const(offset, I32)), t), out)
        held = named(nest, "parts", combine(fold, (other,), (held,))[0], out)
        offset *= 2
    return held
