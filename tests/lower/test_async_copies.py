"""Asynchronous copies are seen by other threads behind a barrier that stands behind the wait for them."""

import re

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Call, Const, Load, Var
from mdh.ir.kernel import Barrier, Commit, Let, Move, Stmt, Store, Wait
from mdh.lower.passes.barriers import place_barriers
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit

MATMUL = """void matmul(const float A[16][256], const float B[256][1000], float C[16][1000]) {
  for (int i = 0; i < 16; i++) for (int j = 0; j < 1000; j++) {
    C[i][j] = 0.0f;
    for (int k = 0; k < 256; k++) C[i][j] += A[i][k] * B[k][j]; } }"""
SLACK = """1: (de-)comp( 16, 64, 8 ) ( ^, ^ ; ^@combine(atomic) ) ( BLK.x, BLK.y, BLK.z )
2: (de-)comp( ^, ^, 8 ) ( A:SM[1,2]@copy(async), B:SM[1,2]@copy(async) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 4, 5, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 8 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
"""
"""Threads' columns go beyond the block's: a zero lies behind B's copy, and a barrier between the two."""


def tid() -> Call:
    return Call("thread_id", (Const(0, I32),), I32)


def copy(to: str, engine: str = "async") -> Move:
    return Move(to, (Var("t"),), "G", (Var("t"),), engine=engine)


def kinds(body: tuple[Stmt, ...]) -> list[str]:
    return [type(s).__name__ for s in place_barriers(body, frozenset({"S", "T"}), frozenset({"t"}))]


def use(shared: str) -> Store:
    return Store("X", (Var("t"),), Load(shared, (Const(0, I32),), F32))


def test_after_the_wait() -> None:
    body = (Let("t", tid()), copy("S"), Barrier("block"), Commit(), Wait(0), use("S"))
    assert kinds(body) == ["Let", "Move", "Barrier", "Commit", "Wait", "Barrier", "Store"]


def test_a_barrier_behind_the_wait_is_enough() -> None:
    body = (Let("t", tid()), copy("S"), Commit(), Wait(0), Barrier("block"), use("S"))
    assert kinds(body) == [type(s).__name__ for s in body]


def test_a_wait_that_leaves_some_pending_does_not_say_which() -> None:
    body = (Let("t", tid()), copy("S"), copy("T"), Wait(1), use("S"), Wait(0), use("T"))
    assert kinds(body).count("Barrier") == 2


def test_plain_copies_are_there_at_once() -> None:
    body = (Let("t", tid()), copy("S", "plain"), Barrier("block"), use("S"))
    assert kinds(body) == [type(s).__name__ for s in body]


def test_both_operands_are_there_before_they_are_read() -> None:
    program = read_program(Source("matmul.c", MATMUL))
    plan = check(program, parse_schedule(Source("s.mdh", SLACK)), load_machine("h200"), "cuda")
    text = emit(lower(plan), program).source
    bodies = re.split(r"cp_async_wait<0>\(\);", text)[1:]
    assert bodies
    for behind in bodies:
        assert 0 <= behind.find("__syncthreads();") < min(behind.index("A_SM["), behind.index("B_SM["))
