"""Random reductions in one pass: results are those of the C text, there are no races, and nothing is read
that has not been written."""

import os
from collections import Counter
from functools import cache

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.cubins import cubin_of
from tests.support.native import compiler
from tests.support.pairs import arguments, execute, planned
from tests.support.random_online import RandomOnline, online_schedule, random_online

COUNT = int(os.environ.get("MDH_RANDOM_ONLINE", "6"))
FIRST = int(os.environ.get("MDH_RANDOM_ONLINE_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> tuple[RandomOnline, Program]:
    drawn = random_online(seed)
    return drawn, read_program(Source(f"online_{seed}.c", drawn.text))


def outcome(seed: int, device: str) -> str:
    """`equal`, or the codes against the schedule."""
    drawn, program = program_of(seed)
    opened = open_device(device)
    try:
        text = online_schedule(drawn, program, opened.machine, opened.target, seed)
        plan = planned(program, parse_schedule(Source("online.mdh", text)), opened.machine, opened.target)
    except Failed as failed:
        assert all(d.code[0] in "K" for d in failed.diagnostics), (failed, drawn.text)
        return " ".join(sorted({d.code for d in failed.diagnostics}))
    found = execute(plan, opened, arguments(program, {}, seed), {})
    assert found.kind == "equal", (found, plan.text, drawn.text)
    again = parse_schedule(Source("again.mdh", plan.text))
    assert planned(program, again, opened.machine, opened.target).text == plan.text
    return found.kind


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    outcome(seed, "c")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_right_on_a_gpu_without_races(seed: int) -> None:
    outcome(seed, "oclgrind")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_cuda_compiles(seed: int) -> None:
    (drawn, program), machine = program_of(seed), load_machine("h100")
    try:
        text = online_schedule(drawn, program, machine, "cuda", seed)
        plan = planned(program, parse_schedule(Source("online.mdh", text)), machine, "cuda")
    except Failed:
        return
    assert cubin_of(emit(lower(plan), program), "sm_90")


def test_many_are_legal() -> None:
    """The plans alone, for a CPU."""
    machine, seen = load_machine("generic-cpu"), Counter[str]()
    for seed in range(12):
        drawn, program = program_of(seed)
        try:
            text = online_schedule(drawn, program, machine, "c", seed)
            planned(program, parse_schedule(Source("online.mdh", text)), machine, "c")
        except Failed as failed:
            seen.update({d.code for d in failed.diagnostics})
            continue
        seen["legal"] += 1
    assert seen["legal"] >= 4


SOFTMAX = """#include <math.h>
void rows(const float A[6][10], const float V[10][3], float O[6][3]) {
  float top[6], total[6];
  for (int i = 0; i < 6; i++) {
    top[i] = -INFINITY;
    for (int j = 0; j < 10; j++) top[i] = fmaxf(top[i], A[i][j]);
  }
  for (int i = 0; i < 6; i++) {
    total[i] = 0;
    for (int j = 0; j < 10; j++) total[i] += expf(A[i][j] - top[i]);
  }
  for (int i = 0; i < 6; i++)
    for (int d = 0; d < 3; d++) {
      O[i][d] = 0;
      for (int j = 0; j < 10; j++) O[i][d] += expf(A[i][j] - top[i]) / total[i] * V[j][d];
    }
}
"""
PASS = """stage top in O:2 { (de-)comp( 1, ^ ) ( ^ ; ^ ) ( FOR.1, ^ ) }
stage total in O:2 { (de-)comp( 1, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^ ) }
stage O online top, total {
  (de-)comp( 3, ^, ^ ) ( ^, ^, ^, ^ ; ^ )                            ( BLK.x, ^, ^ )
  (de-)comp( ^, ^, 4 ) ( ^, ^, top:SM[1], total:SM[1] ; O:RM[1,2] ) ( ^, ^, FOR.1 )
}
"""


def test_scores_that_are_no_numbers() -> None:
    """-infinity in whole parts and rows, NaN before and after numbers, infinity, jumps that underflow."""
    if compiler() is None:
        pytest.skip("no C compiler here")
    device, program = open_device("c"), read_program(Source("rows.c", SOFTMAX))
    plan = planned(program, parse_schedule(Source("rows.mdh", PASS)), device.machine, device.target)
    drawn = random_scores()
    found = execute(plan, device, drawn, {})
    assert found.kind == "equal", found
    built = device.build(emit(lower(plan), program))
    mine = {name: array.copy() for name, array in drawn.items()}
    built.call(mine, {}).launch()
    numbers = np.isfinite(mine["O"]).all(axis=1)
    assert numbers.tolist() == [True, True, False, False, False, True]


def random_scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(6, 10)).astype(np.float32)
    scores[0, :4] = -np.inf
    scores[1, :9] = -np.inf
    scores[2] = -np.inf
    scores[3, :8], scores[3, 1] = -np.inf, np.nan
    scores[4, 9] = np.inf
    scores[5, :9], scores[5, 9] = -300, 300
    values = rng.normal(size=(10, 3)).astype(np.float32)
    return {"A": scores, "V": values, "O": np.zeros((6, 3), np.float32)}
