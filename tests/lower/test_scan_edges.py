"""Prefix sums that the edge cuts, on GPUs: they go on past their end, where nothing is stored."""

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.corpus import WORKLOADS

ROWS = """
void scan(const TYPE A[ROWS][N], TYPE S[ROWS][N]) {
  for (int i = 0; i < ROWS; i++) {
    TYPE t = 1;
    for (int p = 0; p < N; p++) { BODY }
  }
}
"""
BODIES = {
    "sum": "t += A[i][p]; S[i][p] = t;",
    "sum before": "S[i][p] = t; t += A[i][p];",
    "max": "t = A[i][p] > t ? A[i][p] : t; S[i][p] = t;",
    "scaled": "t += A[i][p]; S[i][p] = 2 * t;",
}
SCHEDULES = {
    "parts that divide the tile": (
        "1: (de-)comp( 1, 60 ) ( ^ ; ^ ) ( BLK.y, ^ )\n"
        "2: (de-)comp( ^, ^ ) ( A:SM[1,2] ; S:SM[1,2] ) ( ^, ^ )\n"
        "3: (de-)comp( ^, 15 ) ( ^ ; ^ ) ( ^, THR.x )"
    ),
    "parts that do not": (
        "1: (de-)comp( 1, 60 ) ( ^ ; ^ ) ( BLK.y, ^ )\n"
        "2: (de-)comp( ^, ^ ) ( A:SM[1,2] ; S:SM[1,2] ) ( ^, ^ )\n"
        "3: (de-)comp( ^, 16 ) ( ^ ; ^ ) ( ^, THR.x )"
    ),
    "long parts, which are run over twice": (
        "1: (de-)comp( 1, 240 ) ( ^ ; ^ ) ( BLK.y, ^ )\n"
        "2: (de-)comp( ^, ^ ) ( A:SM[1,2] ; S:SM[1,2] ) ( ^, ^ )\n"
        "3: (de-)comp( ^, 60 ) ( ^ ; ^ ) ( ^, THR.x )"
    ),
    "blocks and rows that are cut, too": (
        "1: (de-)comp( 2, 60 ) ( A:SM[1,2] ; S:SM[1,2]@combine(kernel) ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 1, 15 ) ( ^ ; ^ ) ( THR.y, THR.x )"
    ),
}


def program_of(kind: str, body: str, rows: int, n: int) -> Program:
    text = ROWS.replace("BODY", body).replace("TYPE", kind).replace("ROWS", str(rows)).replace("N", str(n))
    return read_program(Source("scan.c", text))


def text_of(program: Program, schedule: str) -> str:
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), load_machine("h200"), "cuda")
    return emit(lower(plan), program).source


def expected(body: str, a: np.ndarray) -> np.ndarray:
    if body == "max":
        return np.maximum(np.maximum.accumulate(a, 1), 1)
    sums = 1 + np.cumsum(a, 1, dtype=a.dtype)
    return {"sum": sums, "sum before": sums - a, "scaled": 2 * sums}[body]


@pytest.mark.parametrize("n", [241, 270, 512])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", SCHEDULES)
def test_results(name: str, body: str, n: int) -> None:
    """The simulator finds no race, no access out of bounds and nothing uninitialised."""
    kind = "float" if body == "sum" else "int"
    program = program_of(kind, BODIES[body], 3, n)
    plan = check(
        program, parse_schedule(Source("s.mdh", SCHEDULES[name])), load_machine("oclgrind"), "opencl"
    )
    a = np.random.default_rng(n).integers(-4, 5, (3, n)).astype(np.float32 if kind == "float" else np.int32)
    arrays = {"A": a, "S": np.zeros_like(a)}
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert np.array_equal(arrays["S"], expected(body, a))


PLAIN = SCHEDULES["parts that divide the tile"]


def test_no_guard_is_left_in_the_sums() -> None:
    text = text_of(program_of("float", BODIES["sum"], 3, 130), PLAIN)
    assert "thr_p * 15 + p_4 + 120 <" not in text
    assert text.count("< 130") == 2, "the copy and the stores end at the edge"


@pytest.mark.parametrize(
    "body, staged",
    [("t += 12 / A[i][p]; S[i][p] = t;", "A:SM[1,2]"), (BODIES["sum"], "^")],
    ids=["division", "a read that no copy covers"],
)
def test_guards_that_are_needed_stay(body: str, staged: str) -> None:
    text = text_of(program_of("int", body, 3, 130), PLAIN.replace("A:SM[1,2]", staged))
    assert text.count("thr_p * 15 + p_4 + 120 < 130") == 2


def test_parts_keep_out_of_one_another() -> None:
    """A part that its tile cuts ends there, since the next tile begins there."""
    text = text_of(program_of("float", BODIES["sum"], 3, 130), SCHEDULES["parts that do not"])
    assert "thr_p * 16 + p_4 < 60" in text


@pytest.mark.parametrize("name", ["prefix_sum", "prefix_sum_exclusive"])
@pytest.mark.parametrize(
    "machine, arch", [("a100", "sm_80"), ("a100", "sm_86"), ("rtx4090", "sm_89"), ("h200", "sm_90a")]
)
def test_the_default_spills_nothing(name: str, machine: str, arch: str) -> None:
    """Guards on the points of the last block once held registers from one run to the next, in all blocks."""
    program = read_program(WORKLOADS[name].source, defines=dict(WORKLOADS[name].full))
    model = load_machine(machine)
    default = default_schedule(program, model, "cuda")
    text = emit(lower(check(program, default, model, "cuda", default=default)), program)
    assert compile_cubin(text, arch).spill_bytes == 0
