"""Blocks of a cluster that send each other boxes, in the interpreter: kernel IR that is written by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mdh.hardware import Space, SyncScope
from mdh.ir.construct import add, div, equal, less, mod, mul, num
from mdh.ir.copy_engine import Arrive, Await, BoxCopy, Expect, InitTokens, TensorMap, TokensReady
from mdh.ir.dtype import F32, I32, U64
from mdh.ir.expr import Call, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Barrier, Buf, For, ForKind, If, Kernel, Launch, Let, Module, Stmt, Store
from mdh.ir.walk import rewritten
from tests.atoms.warps import run

TURNS, SLOTS, ROW = 7, 2, 32
RANK, TID, TURN, BLOCK = (Var(x) for x in ("rank", "tid", "turn", "block"))
SLOT = mod(TURN, SLOTS)
ROW_OF = add(mul(TURN, 2), RANK)
START = Barrier(SyncScope.CLUSTER, "all tokens are ready")
END = Barrier(SyncScope.CLUSTER, "nobody is sent anything more")


def _parity(more: int) -> Expr:
    return mod(add(div(TURN, SLOTS), more), 2)


def _turns(*body: Stmt) -> Stmt:
    return For("turn", num(0), num(TURNS), num(1), body, ForKind.SEQ)


LOAD = _turns(
    Await("free", (SLOT,), _parity(1)),
    Expect("filled", (SLOT,), 2 * ROW * 4),
    BoxCopy(
        "A_map", (add(mul(TURN, 2), RANK), num(0)), "part", (SLOT, RANK, num(0)), "filled", (SLOT,), num(3)
    ),
)
"""Each block asks for one row, which both receive."""
MATH = _turns(
    Await("filled", (SLOT,), _parity(0)),
    *(Store("C", (BLOCK, TURN, num(row), TID), Load("part", (SLOT, num(row), TID), F32)) for row in range(2)),
    *(If(equal(TID, 0), (Arrive("free", (SLOT,), num(rank)),)) for rank in range(2)),
)
BODY: tuple[Stmt, ...] = (
    Alloc(Buf("filled", Space.SM, U64, (SLOTS,), (1,), align=8)),
    Alloc(Buf("free", Space.SM, U64, (SLOTS,), (1,), align=8)),
    Alloc(Buf("part", Space.SM, F32, (SLOTS, 2, ROW), (2 * ROW, ROW, 1), align=128)),
    Let("tid", Call(Intrinsic.THREAD_ID, (num(0),), I32)),
    Let("block", Call(Intrinsic.BLOCK_ID, (num(0),), I32)),
    Let("rank", Call(Intrinsic.CLUSTER_RANK, (), I32)),
    If(equal(TID, 0), (InitTokens("filled", 1), InitTokens("free", 2), TokensReady())),
    START,
    If(less(TID, 32), (MATH,), (If(equal(TID, 32), (LOAD,)),)),
    END,
)


def _module(body: tuple[Stmt, ...]) -> Module:
    buffer = Buf("C", Space.DM, F32, (4, TURNS, 2, ROW), (TURNS * 2 * ROW, 2 * ROW, ROW, 1))
    launch = Launch((4, 1, 1), (64, 1, 1), (2, 1, 1))
    rows = TensorMap("A_map", "A", F32, (2 * TURNS, ROW), (1, ROW))
    kernel = Kernel("f", "C", (buffer,), (), launch, body, maps=(rows,))
    return Module("f", "cuda", "h200", (kernel,), (), ("A", "C"))


def _right(body: tuple[Stmt, ...], seed: int) -> bool:
    a = np.arange(2 * TURNS * ROW, dtype=np.float32).reshape(2 * TURNS, ROW)
    c = np.full((4, TURNS, 2, ROW), np.nan, np.float32)
    try:
        run(_module(body), {"A": a, "C": c}, seed=seed)
    except AssertionError:
        return False
    return np.array_equal(c, np.broadcast_to(a.reshape(TURNS, 2, ROW), c.shape))


@pytest.mark.parametrize("seed", range(10))
def test_blocks_send_each_other_boxes(seed: int) -> None:
    assert _right(BODY, seed)


def _own(s: Stmt) -> Stmt:
    """Only a block's own slots are released."""
    match s:
        case Arrive():
            return replace(s, rank=RANK)
        case _:
            return s


def _one_release(s: Stmt) -> Stmt:
    return replace(s, arrivals=1) if s == InitTokens("free", 2) else s


def _half(s: Stmt) -> Stmt:
    return replace(s, bytes=s.bytes // 2) if isinstance(s, Expect) else s


def _alone(s: Stmt) -> Stmt:
    return replace(s, peers=None) if isinstance(s, BoxCopy) else s


def _far(s: Stmt) -> Stmt:
    return replace(s, peers=num(7)) if isinstance(s, BoxCopy) else s


@pytest.mark.parametrize("change", [_own, _one_release, _half, _alone, _far])
def test_faults_are_found(change: Callable[[Stmt], Stmt]) -> None:
    body = rewritten(BODY, change)
    assert body != BODY
    assert not all(_right(body, seed) for seed in range(10))


@pytest.mark.parametrize("gone", [START, END], ids=["start", "end"])
def test_missing_barriers_are_found(gone: Stmt) -> None:
    body = tuple(s for s in BODY if s != gone)
    assert not all(_right(body, seed) for seed in range(10))
