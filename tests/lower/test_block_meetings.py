"""How the threads of a block meet on GPUs: how often, by what, and in how much shared memory."""

import re

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.text import KernelText

SCAN = """
void scan({t} A[M][N], {t} S[M][N]) {{
  for (int i = 0; i < M; i++) {{
    {t} sum = 0;
    for (int j = 0; j < N; j++) {{ sum += A[i][j]; S[i][j] = sum; }}
  }}
}}
"""
BEST = """
#include <math.h>
void rows(const float A[M][N], float best[M], int place[M]) {
  for (int i = 0; i < M; i++) {
    best[i] = -INFINITY;
    place[i] = START;
    for (int j = 0; j < N; j++)
      if (A[i][j] > best[i]) { best[i] = A[i][j]; place[i] = j; }
  }
}
"""
STAGED = """
1: (de-)comp( ^, {block} ) ( A:SM[1,2] ; S:SM[1,2]{how} ) ( ^, BLK.x )
2: (de-)comp( ^, {part} )  ( ^ ; ^ )                 ( ^, THR.x )
"""


def text_of(c: str, schedule: str, target: str = "cuda", **sizes: object) -> KernelText:
    program = read_program(Source("s.c", c), defines={k: str(v) for k, v in sizes.items()})
    machine = load_machine("h200" if target == "cuda" else "oclgrind")
    return emit(lower(check(program, parse_schedule(Source("s.mdh", schedule)), machine, target)), program)


def scan(block: int, part: int, how: str = "", kind: str = "float", **more: int) -> KernelText:
    schedule = STAGED.format(block=block, part=part, how=how)
    return text_of(SCAN.format(t=kind), schedule, **{"M": 1, "N": 64 * block, **more})


def meetings(text: str) -> list[str]:
    return re.findall(r"__syncthreads\(\);  // (.*)", text)


def test_a_scan_by_look_back_meets_five_times() -> None:
    text = scan(3840, 15).source
    assert meetings(text) == [
        "every thread learns the block's number",
        "A_SM is filled",
        "warps_f32 is filled",
        "passed_f32 is filled",
        "A_SM is complete",
    ]
    assert re.findall(r"float (\w+)\[3840\]", text) == ["A_SM"]
    assert "*(float4 *)&S[" in text and "__threadfence" not in text


def test_the_warps_that_scan_totals_are_whole() -> None:
    text = scan(3840, 15, "@combine(kernel)")
    assert [k.launch.block[0] for k in text.kernels] == [256, 64, 256]
    assert "scan_f320" not in text.source


@pytest.mark.parametrize(
    ("kind", "word"), [("float", True), ("int", True), ("short", True), ("double", False)]
)
def test_values_travel_with_their_states_where_both_fit(kind: str, word: bool) -> None:
    text = scan(3840, 15, kind=kind).source
    assert ("scan_passed" in text) is word
    assert ("scan_state" in text and "__threadfence();" in text) is not word


@pytest.mark.parametrize(("block", "part"), [(75, 5), (33 * 3, 3)])
def test_threads_that_are_no_whole_warps_scan_in_shared_memory(block: int, part: int) -> None:
    assert "scan_f320" in scan(block, part).source


def test_rows_inside_a_warp_need_no_shared_memory() -> None:
    schedule = "(de-)comp( 8, 64 ) ( ^ ; ^ ) ( BLK.x, ^ )\n(de-)comp( 1, 8 ) ( ^ ; ^ ) ( THR.y, THR.x )"
    assert meetings(text_of(SCAN.format(t="float"), schedule, M=8, N=64).source) == []


def test_long_parts_are_read_twice_and_results_wait_apart() -> None:
    text = scan(256 * 64, 64).source
    assert re.findall(r"float \*const (\w+)_SM", text) == ["S", "A"]


def test_edges_that_cut_a_vector_are_stored_one_by_one() -> None:
    assert "*(float4 *)&S[" not in scan(3840, 15, N=100_001).source


def test_opencl_has_no_shuffles() -> None:
    schedule = STAGED.format(block=240, part=15, how="@combine(kernel)")
    text = text_of(SCAN.format(t="float"), schedule, "opencl", M=1, N=1000).source
    assert "scan_f320" in text and "shfl" not in text


@pytest.mark.parametrize(("threads", "exchanges"), [(128, 2), (448, 4), (1024, 5)])
def test_the_warps_of_a_reduction_meet_once(threads: int, exchanges: int) -> None:
    schedule = f"""
    (de-)comp( 1, ^ ) ( ^ ; ^, ^ ) ( BLK.x, ^ )
    (de-)comp( ^, {threads} ) ( ^ ; best:RM[1], place:RM[1] ) ( ^, FOR.1 )
    (de-)comp( ^, 1 ) ( ^ ; ^, ^ ) ( ^, THR.x )
    """
    text = text_of(BEST, schedule, M=3, N=4 * threads, START=-1).source
    assert meetings(text) == ["meet_f32 is filled"]
    assert text.count("__shfl_xor_sync") == 2 * (5 + exchanges)


@pytest.mark.parametrize(("start", "carried"), [(-1, 1), (0, 2)])
def test_a_payload_that_is_the_position_is_not_carried_twice(start: int, carried: int) -> None:
    schedule = "(de-)comp( 1, ^ ) ( ^ ; ^, ^ ) ( BLK.x, ^ )\n(de-)comp( ^, 8 ) ( ^ ; ^, ^ ) ( ^, THR.x )"
    text = text_of(BEST, schedule, M=3, N=512, START=start).source
    assert text.count("int best_RM_") == carried
    assert "v_best_RM > h_best_RM ? v_best_RM : h_best_RM" in text
