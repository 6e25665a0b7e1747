"""Faults that are planted in kernels with warp groups, boxes and roles: the interpreter finds each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from mdh.ir.construct import add, mod
from mdh.ir.copy_engine import (
    Arrive,
    Await,
    BoxCopy,
    Expect,
    InitTokens,
    SetRegisters,
    TensorMap,
    TokensReady,
)
from mdh.ir.dtype import U32
from mdh.ir.expr import Binary, Const
from mdh.ir.kernel import Alloc, Barrier, If, Kernel, Let, Module, Stmt
from mdh.ir.matrix import GroupMma, MmaCommit, MmaFence, MmaWait, SharedMatrix
from mdh.ir.program import Program
from mdh.ir.walk import with_bodies
from tests.atoms.products import Product, lowered, whole_numbers
from tests.atoms.warps import run

SCHEDULE = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {grid}
2: (de-)comp( ^, ^, 32 ) ( {a}, {b} ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages({stages})
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""
A, B = "A:SM[1,2]@copy(tma)@swizzle(64)", "B:SM[1,2]@copy(tma)@swizzle(64)"
ROLES = SCHEDULE.format(grid="@roles(load=1, math=2, regs=24/240) @persistent", a=A, b=B, stages=3)
ALONE = SCHEDULE.format(grid="", a=A, b=B, stages=3)
ONE_SLOT = SCHEDULE.format(grid="", a=A, b=B, stages=1)
TURNS = ROLES.replace("240)", "240, turns)").replace("128, 64, ^", "64, 64, ^")
PRODUCT = Product("bf16", "NN", 136, 64, 232)
SEEDS = range(6)
UNITS = 1
"""Multiprocessors, so that a block of @persistent has several tiles."""


@cache
def _lowered(schedule: str) -> tuple[Program, Module]:
    return lowered(PRODUCT.text, schedule, units=UNITS)


def _right(program: Program, module: Module, seed: int) -> bool:
    arrays = whole_numbers(program, seed)
    try:
        run(module, arrays, seed=seed)
    except AssertionError:
        return False
    return np.array_equal(arrays["C"].astype(np.float64), PRODUCT.expected(arrays))


@pytest.mark.parametrize(
    "schedule", [ROLES, ALONE, ONE_SLOT, TURNS], ids=["roles", "alone", "one slot", "turns"]
)
def test_kernels_without_a_fault_are_right(schedule: str) -> None:
    program, module = _lowered(schedule)
    assert [seed for seed in range(3) if not _right(program, module, seed)] == []


# -- faults ------------------------------------------------------------------------------------

Change = Callable[[Stmt], Stmt | None]
"""What stands in the place of a statement; None: nothing."""


@dataclass(frozen=True)
class Fault:
    """A change of a kernel's statements, or of its maps."""

    name: str
    schedule: str
    change: Change = lambda s: s
    maps: Callable[[TensorMap], TensorMap] = lambda m: m

    def plant(self, kernel: Kernel) -> Kernel:
        def changed(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return tuple(_changed(body, self.change, changed))

        return replace(kernel, body=changed(kernel.body), maps=tuple(map(self.maps, kernel.maps)))


def _changed(
    body: tuple[Stmt, ...], change: Change, inner: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]
) -> Iterator[Stmt]:
    for s in body:
        new = change(s)
        if new is not None:
            yield with_bodies(new, inner)


def _without(kind: type, buffer: str = "", reason: str = "") -> Change:
    def change(s: Stmt) -> Stmt | None:
        gone = isinstance(s, kind)
        gone = gone and getattr(s, "buffer", buffer).startswith(buffer)
        return None if gone and getattr(s, "reason", reason).startswith(reason) else s

    return change


def _parity(buffer: str) -> Change:
    def change(s: Stmt) -> Stmt:
        if isinstance(s, Await) and s.buffer.startswith(buffer):
            return replace(s, parity=Binary("-", Const(1, U32), s.parity, U32))
        return s

    return change


def _bytes(more: int) -> Change:
    return lambda s: replace(s, bytes=s.bytes + more) if isinstance(s, Expect) else s


def _arrivals(buffer: str, more: int) -> Change:
    def change(s: Stmt) -> Stmt:
        if isinstance(s, InitTokens) and s.buffer.startswith(buffer):
            return replace(s, arrivals=s.arrivals + more)
        return s

    return change


def _pending(before: int, after: int) -> Change:
    return lambda s: MmaWait(after) if s == MmaWait(before) else s


def _factor(side: str, change: Callable[[SharedMatrix], SharedMatrix]) -> Change:
    def changed(s: Stmt) -> Stmt:
        if not isinstance(s, GroupMma):
            return s
        return replace(s, a=change(s.a)) if side == "a" else replace(s, b=change(s.b))

    return changed


def _further(m: SharedMatrix, axis: int, count: int) -> SharedMatrix:
    index = list(m.index)
    index[axis] = add(index[axis], count)
    return replace(m, index=tuple(index))


def _box(buffer: str, axis: int, count: int) -> Change:
    def change(s: Stmt) -> Stmt:
        if not isinstance(s, BoxCopy) or not s.map.startswith(buffer):
            return s
        start = list(s.start)
        start[axis] = add(start[axis], count)
        return replace(s, start=tuple(start))

    return change


def _fewer_slots(s: Stmt) -> Stmt:
    """Two slots hold what three tokens speak of."""

    def slot(m: SharedMatrix) -> SharedMatrix:
        return replace(m, index=(mod(m.index[0], 2), *m.index[1:]))

    match s:
        case BoxCopy():
            return replace(s, index=(mod(s.index[0], 2), *s.index[1:]))
        case GroupMma():
            return replace(s, a=slot(s.a), b=slot(s.b))
        case _:
            return s


def _release_first(s: Stmt) -> Stmt:
    """A turn releases its own slot, which atoms still read, instead of that of the turn before."""
    if not (isinstance(s, If) and isinstance(s.then[0], Arrive)):
        return s
    (arrive,) = s.then
    before, late = arrive.index[0], s.cond
    assert isinstance(before, Binary) and isinstance(before.left, Binary) and isinstance(late, Binary)
    own = replace(arrive, index=(replace(before, left=before.left.left),))
    return If(late.left, (own,))


def _registers(s: Stmt) -> Stmt:
    return SetRegisters(248, more=True) if isinstance(s, SetRegisters) and s.more else s


def _alignment(s: Stmt) -> Stmt:
    """Slots that follow one another too closely."""
    if isinstance(s, Alloc) and s.buf.name.startswith("A_SM"):
        return Alloc(replace(s.buf, strides=(s.buf.strides[0] + 64, *s.buf.strides[1:])))
    return s


def _own_turn(s: Stmt) -> Stmt:
    if isinstance(s, Arrive) and s.buffer.startswith("turn_of"):
        (following,) = s.index
        assert isinstance(following, Binary) and isinstance(following.left, Binary)
        return replace(s, index=(following.left.left,))
    return s


def _first_turns(s: Stmt) -> Stmt:
    if isinstance(s, Let) and s.name.startswith("first"):
        return replace(s, value=add(s.value, 1))
    return s


def _any_turn(s: Stmt) -> Stmt:
    """As if the same threads computed all tiles: the first turn of one releases the last slot of another."""
    if isinstance(s, If) and isinstance(s.cond, Binary) and s.cond.op == "&&":
        late = s.cond.right
        assert isinstance(late, Binary) and isinstance(late.right, Binary)
        return replace(s, cond=replace(s.cond, right=replace(late, right=late.right.right)))
    return s


def _without_last(s: Stmt) -> Stmt | None:
    released = isinstance(s, If) and isinstance(s.then[0], Arrive)
    return None if released and isinstance(s, If) and getattr(s.cond, "op", "") == "==" else s


FAULTS = (
    Fault("the parity of filled", ROLES, _parity("filled")),
    Fault("the parity of free", ROLES, _parity("free")),
    Fault("nobody awaits filled", ROLES, _without(Await, "filled")),
    Fault("nobody awaits free", ROLES, _without(Await, "free")),
    Fault("a release before the wait", ROLES, _pending(1, 2)),
    Fault("releases of a slot that atoms read", ROLES, _release_first),
    Fault("a slot too few", ROLES, _fewer_slots),
    Fault("no fence", ROLES, _without(MmaFence)),
    Fault("no wait before the epilogue", ROLES, _pending(0, 1)),
    Fault("no commit", ROLES, _without(MmaCommit)),
    Fault("too many bytes", ROLES, _bytes(16)),
    Fault("too few bytes", ROLES, _bytes(-16)),
    Fault("nobody says the bytes", ROLES, _without(Expect)),
    Fault("too few arrivals", ROLES, _arrivals("free", -1)),
    Fault("too many arrivals", ROLES, _arrivals("free", 1)),
    Fault("no release", ROLES, _without(Arrive)),
    Fault("stride of A", ROLES, _factor("a", lambda m: replace(m, group=m.group * 2))),
    Fault("stride of B", ROLES, _factor("b", lambda m: replace(m, group=m.group // 2))),
    Fault("leading offset of B", ROLES, _factor("b", lambda m: replace(m, block=m.block // 2))),
    Fault("start of A along k", ROLES, _factor("a", lambda m: _further(m, -1, 8))),
    Fault("start of A along m", ROLES, _factor("a", lambda m: _further(m, -2, 8))),
    Fault("start of B along k", ROLES, _factor("b", lambda m: _further(m, -2, 8))),
    Fault("start of B inside of the pattern", ROLES, _factor("b", lambda m: _further(m, -2, 4))),
    Fault("swizzle of A's atoms", ROLES, _factor("a", lambda m: replace(m, swizzle=128))),
    Fault("swizzle of B's atoms", ROLES, _factor("b", lambda m: replace(m, swizzle=32))),
    Fault("how B lies", ROLES, _factor("b", lambda m: replace(m, along_k=True))),
    Fault("swizzle of boxes", ROLES, maps=lambda m: replace(m, swizzle=128)),
    Fault("no swizzle of boxes", ROLES, maps=lambda m: replace(m, swizzle=0)),
    Fault("long boxes", ROLES, maps=lambda m: replace(m, box=(m.box[0], m.box[1] * 2))),
    Fault("a row of A", ROLES, _box("A", 0, 1)),
    Fault("a column of A", ROLES, _box("A", 1, -1)),
    Fault("a column of B", ROLES, _box("B", 1, 8)),
    Fault("tokens not ready", ROLES, _without(TokensReady)),
    Fault("no tokens", ROLES, _without(InitTokens)),
    Fault("no barrier after the tokens", ROLES, _without(Barrier, reason="the tokens")),
    Fault("registers that there are not", ROLES, _registers),
    Fault("rows of the result", ROLES, lambda s: replace(s, row=1) if isinstance(s, GroupMma) else s),
    Fault("columns of the result", ROLES, lambda s: replace(s, column=2) if isinstance(s, GroupMma) else s),
    Fault("slots too close", ROLES, _alignment),
    Fault("nobody awaits a turn", TURNS, _without(Await, "turn_of")),
    Fault("no turn is passed on", TURNS, _without(Arrive, "turn_of")),
    Fault("the parity of turns", TURNS, _parity("turn_of")),
    Fault("too few arrivals for a turn", TURNS, _arrivals("turn_of", -64)),
    Fault("too many arrivals for a turn", TURNS, _arrivals("turn_of", 1)),
    Fault("a team passes the turn to itself", TURNS, _own_turn),
    Fault("a tile begins with the slots of another", TURNS, _first_turns),
    Fault("a team releases slots of another", TURNS, _any_turn),
    Fault("last slots are not released", TURNS, _without_last),
    Fault("no barrier before a slot is filled", ALONE, _without(Barrier, reason="the slot before")),
    Fault("no barrier after the tokens, alone", ALONE, _without(Barrier, reason="the tokens")),
    Fault("nobody awaits filled, alone", ALONE, _without(Await)),
    Fault("the parity, alone", ALONE, _parity("filled")),
    Fault("atoms still run, alone", ALONE, _pending(0, 1)),
    Fault("no barrier, one slot", ONE_SLOT, _without(Barrier, reason="the slot is free")),
    Fault("atoms still run, one slot", ONE_SLOT, _pending(0, 1)),
)


@pytest.mark.parametrize("fault", FAULTS, ids=[f.name for f in FAULTS])
def test_found(fault: Fault) -> None:
    program, module = _lowered(fault.schedule)
    (kernel,) = module.kernels
    faulty = fault.plant(kernel)
    assert faulty != kernel, "the fault is nowhere"
    assert any(not _right(program, replace(module, kernels=(faulty,)), seed) for seed in SEEDS)
