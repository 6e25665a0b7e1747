"""Default schedules pass the checker and the lowering, for every shipped and for random programs."""

import os
from dataclasses import replace
from math import prod
from random import Random

import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.ladder import LADDER, WHOLE
from mdh.schedule.default.ladder_plans import plans
from mdh.schedule.default.shape import Shape
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.corpus import WORKLOADS, Workload
from tests.support.random_programs import random_program

WIDE = replace(load_machine("generic-cpu"), vector_bytes=64, shared_per_block=1 << 19)
"""A CPU with 32 vector registers."""
NAMED = (("h200", "cuda"), ("rtx4090", "opencl"), ("generic-cpu", "opencl"), ("oclgrind", "opencl"))
MACHINES = (*((load_machine(name), target) for name, target in NAMED), (WIDE, "c"))
COUNT = int(os.environ.get("MDH_RANDOM_DEFAULTS", "40"))
SEED = int(os.environ.get("MDH_SEED", "20261121"))


def _legal(program: Program, machine: Machine, target: str) -> None:
    schedule = default_schedule(program, machine, target)
    assert not holes(schedule)
    assert parse_schedule(Source("<default>", print_schedule(schedule))) == schedule
    assert lower(check(program, schedule, machine, target)).kernels


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_shipped_programs(workload: Workload) -> None:
    for sizes in (workload.full, *workload.small):
        program = read_program(workload.source, defines=dict(sizes))
        for machine, target in MACHINES:
            _legal(program, machine, target)


@pytest.mark.parametrize("strict", [False, True])
def test_random_programs(strict: bool) -> None:
    rng = Random(SEED)
    for _ in range(COUNT):
        seed = rng.randrange(1 << 30)
        random = random_program(seed)
        program = read_program(random.source, strict_fp=strict)
        for machine, target in MACHINES:
            try:
                _legal(program, machine, target)
            except Failed as failed:
                pytest.fail(f"random program {seed} on {machine.name}: {failed}\n{random.text}")


ROWS = """void rows(const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { C[i][j] = 0; for (int k = 0; k < K; k++)
    C[i][j] += A[i][k] * B[k][j]; } }"""
THREE = """void three(const float X[M][K], const float Q[K][N], const float V[K][N], const float W[K][N],
           float q[M][N], float v[M][N], float w[M][N]) {
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { q[i][j] = 0; v[i][j] = 0; w[i][j] = 0;
    for (int k = 0; k < K; k++) {
      q[i][j] += X[i][k] * Q[k][j]; v[i][j] += X[i][k] * V[k][j]; w[i][j] += X[i][k] * W[k][j]; } } }"""
TURNED = ROWS.replace("B[K][N]", "B[N][K]").replace("B[k][j]", "B[j][k]")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("c", [ROWS, THREE, TURNED, ROWS.replace("float", "double")])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(16, 1024, 2048), (22, 1000, 1025), (13, 300, 4099), (8, 65536, 2)]
)
def test_few_rows_on_a_cpu_with_wide_registers(c: str, m: int, n: int, k: int, strict: bool) -> None:
    program = read_program(Source("<c>", c), defines={"M": m, "N": n, "K": k}, strict_fp=strict)
    _legal(program, WIDE, "c")


def test_a_few_rows_are_not_packed() -> None:
    program = read_program(Source("<c>", ROWS), defines={"M": 16, "N": 1000, "K": 2048})
    text = print_schedule(default_schedule(program, replace(WIDE, shared_per_block=1 << 18), "c"))
    assert [" ".join(line.split()) for line in text.splitlines()[4:-1]] == [
        "1: (de-)comp( ^, 64, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )",
        "2: (de-)comp( ^, ^, 1024 ) ( ^, ^ ; ^ ) ( ^, ^, FOR.1 )",
        "3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^, ^ )",
        "4: (de-)comp( ^, ^, 2 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )",
        "5: (de-)comp( 1, 16, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ ) @unroll",
        "6: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )",
    ]


def _text(c: str, machine: str, target: str, **sizes: int) -> str:
    program = read_program(Source("<c>", c), defines=sizes)
    return print_schedule(default_schedule(program, load_machine(machine), target))


MATMUL = """void mm(float C[N][N], const float A[N][N], const float B[N][N]) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)
    C[i][j] += A[i][k] * B[k][j]; }"""


def test_large_matrix_product_on_a_gpu() -> None:
    lines = _text(MATMUL, "h200", "cuda", N=4096).splitlines()
    assert [" ".join(line.split()) for line in lines[4:-1]] == [
        "1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(8))",
        "2: (de-)comp( ^, ^, 16 ) ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async else plain) ; C:RM[1,2] ) "
        "( ^, ^, ^ ) @stages(2)",
        "3: (de-)comp( 32, 64, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )",
        "4: (de-)comp( 16, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )",
        "5: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.x@cyclic(4), THR.y@cyclic(4), ^ )",
        "6: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, ^ ) @stages(2) @unroll",
    ]


FILTER = """void filter(const float I[N + 4][N + 4], const float F[5][5], float O[N][N]) {
  for (int p = 0; p < N; p++) for (int q = 0; q < N; q++) {
    O[p][q] = 0.0f;
    for (int r = 0; r < 5; r++) for (int s = 0; s < 5; s++) O[p][q] += I[p + r][q + s] * F[r][s]; } }"""


def test_a_thread_holds_the_window_of_its_results() -> None:
    lines = _text(FILTER, "h200", "cuda", N=512).splitlines()
    assert [" ".join(line.split()) for line in lines[4:-1]] == [
        "1: (de-)comp( 16, 128, ^, ^ ) ( ^, F:SM[1,2] ; ^ ) ( BLK.y, BLK.x, ^, ^ )",
        "2: (de-)comp( 4, 4, ^, ^ ) ( I:RM[1,2], ^ ; ^ ) ( THR.y, THR.x, ^, ^ )",
        "3: (de-)comp( ^, ^, 1, 1 ) ( ^, ^ ; O:RM[1,2] ) ( ^, ^, ^, ^ ) @unroll",
    ]


TALL = """void tall(float C[M][N], const float A[M][K], const float B[K][N]) {
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++)
    C[i][j] += A[i][k] * B[k][j]; }"""


def test_blocks_share_the_sum_where_results_are_few() -> None:
    assert "( BLK.y, ^, BLK.x )" in _text(TALL, "h200", "cuda", M=128, N=32, K=8192)
    assert "( BLK.x, ^, ^ )" in _text(TALL, "h200", "cuda", M=128, N=32, K=64)


SMALL = """void small(const float A[500][N][K], const float B[500][N][K], float C[500][N][N]) {
  for (int b = 0; b < 500; b++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
    C[b][i][j] = 0.0f;
    for (int k = 0; k < K; k++) C[b][i][j] += A[b][i][k] * B[b][j][k]; } }"""


@pytest.mark.parametrize(("n", "k", "thread"), [(26, 72, "2, 4"), (17, 72, "2, 3")])
@pytest.mark.parametrize("t", ["float", "double"])
def test_a_block_computes_a_small_product_whole(n: int, k: int, thread: str, t: str) -> None:
    text = " ".join(_text(SMALL.replace("float", t), "h200", "cuda", N=n, K=k).split())
    assert "1: (de-)comp( 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^, ^ )" in text
    assert f"3: (de-)comp( ^, {thread}, ^ )" in text


def test_a_small_product_goes_whole_only_where_that_is_faster() -> None:
    """By the estimate, which has the least tile of the ladder beside it."""
    program = read_program(Source("small.c", SMALL), defines={"N": "16", "K": "64"})
    shape, machine = Shape(program, program.stages[0]), load_machine("h200")
    found = find_contraction(shape)
    assert found is not None
    least = min(LADDER, key=lambda t: prod(t.block))
    assert {p.tile for p in plans(shape, found, machine)} == {WHOLE, least}


def test_matrix_product_on_a_cpu() -> None:
    lines = _text(MATMUL, "generic-cpu", "opencl", N=1024).splitlines()
    assert [" ".join(line.split()) for line in lines[4:-1]] == [
        "1: (de-)comp( ^, 16, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )",
        "2: (de-)comp( ^, ^, ^ ) ( ^, B:SM[1,2] ; ^ ) ( ^, ^, ^ )",
        "3: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )",
        "4: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )",
        "5: (de-)comp( 1, 8, ^ ) ( ^, ^ ; ^ ) ( ^, FOR.1, ^ ) @unroll",
        "6: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )",
    ]
