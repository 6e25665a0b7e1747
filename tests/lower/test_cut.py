"""Tiles that the edge cuts, on CPUs: loops end where the points end, and no guard is left inside."""

import re

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Const, Load
from mdh.ir.kernel import Alloc, Buf, If, Store
from mdh.lower.passes.uniquify import uniquify
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.corpus import WORKLOADS

ROWS = """
1: (de-)comp( ^, 64, ^ ) ( ^, B:SM[1,2] ; ^ ) ( ^, BLK.x, ^ )
2: (de-)comp( 6, ^, ^ )  ( ^, ^ ; ^ )         ( FOR.1, ^, ^ )
3: (de-)comp( ^, 16, ^ ) ( ^, ^ ; ^ )         ( ^, FOR.1, ^ )
4: (de-)comp( ^, ^, 1 )  ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
5: (de-)comp( 1, 8, ^ )  ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ ) @unroll
6: (de-)comp( ^, 1, ^ )  ( ^, ^ ; ^ )         ( ^, VEC.x, ^ )
"""
BOTH = """
1: (de-)comp( 12, 32, ^ ) ( ^, ^ ; ^ )         ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 10 )  ( A:SM[1,2], ^ ; ^ ) ( ^, ^, FOR.1 )
3: (de-)comp( 5, 16, ^ )  ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ )
4: (de-)comp( ^, ^, 1 )   ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
5: (de-)comp( 1, 8, ^ )   ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ ) @unroll
6: (de-)comp( ^, 1, ^ )   ( ^, ^ ; ^ )         ( ^, VEC.x, ^ )
"""
SIZES = ((23, 104, 31), (23, 70, 31), (13, 67, 20), (25, 99, 43))


def text_of(schedule: str, sizes: tuple[int, int, int]) -> str:
    program = read_program(WORKLOADS["matmul"].source, defines=dict(zip("MNK", sizes, strict=True)))
    parsed = parse_schedule(Source("s.mdh", schedule))
    plan = check(program, parsed, load_machine("generic-cpu"), "opencl")
    return emit(lower(plan), program).source


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("schedule", (ROWS, BOTH))
def test_products_of_any_size_are_right(schedule: str, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    program = read_program(WORKLOADS["matmul"].source, defines={"M": m, "N": n, "K": k})
    device = open_device("opencl:0")
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), device.machine, "opencl")
    rng = np.random.default_rng(1)
    arrays = {
        "A": rng.integers(-4, 5, (m, k)),
        "B": rng.integers(-4, 5, (k, n)),
        "C": rng.integers(-4, 5, (m, n)),
    }
    floats = {name: a.astype(np.float32) for name, a in arrays.items()}
    device.build(emit(lower(plan), program)).call(floats, {}).launch()
    assert np.array_equal(floats["C"], arrays["A"] @ arrays["B"] + arrays["C"])


@pytest.mark.parametrize("schedule", (ROWS, BOTH))
def test_no_guard_is_left_inside(schedule: str) -> None:
    text = text_of(schedule, (23, 104, 30))
    tests = re.findall(r"if \((.*)\)", text)
    assert tests
    assert all(re.fullmatch(r"(blk_[ij] < \d+( && )?)+|k_2 == 0", t) for t in tests), tests


EPILOGUE = """
void scaled(const float A[5][17], float C[5]) {
  for (int i = 0; i < 5; i++) {
    C[i] = 0;
    for (int k = 0; k < 17; k++)
      C[i] += A[i][k];
    C[i] = 3.0f * C[i];
  }
}
"""
SPLIT = """
1: (de-)comp( ^, 7 ) ( ^ ; ^ ) ( ^, FOR.1 )
2: (de-)comp( ^, 2 ) ( ^ ; ^ ) ( ^, FOR.1 )
3: (de-)comp( 1, ^ ) ( ^ ; ^ ) ( FOR.1, ^ )
"""


def test_the_epilogue_comes_with_the_last_part_that_there_is() -> None:
    program = read_program(Source("scaled.c", EPILOGUE))
    device = open_device("opencl:0")
    plan = check(program, parse_schedule(Source("s.mdh", SPLIT)), device.machine, "opencl")
    a, c = np.arange(85, dtype=np.float32).reshape(5, 17), np.zeros(5, np.float32)
    device.build(emit(lower(plan), program)).call({"A": a, "C": c}, {}).launch()
    assert np.array_equal(c, 3 * a.sum(axis=1))


def test_whole_tiles_keep_their_vectors_where_the_edge_cuts_one() -> None:
    text = text_of(ROWS, (23, 99, 31))
    assert "float8 C_RM[12];" in text
    assert "C_RM_3[" in text


def test_declarations_get_names_of_their_own() -> None:
    buf, zero = Buf("r", Space.RM, F32, (1,), (1,)), Const(0, I32)
    use = Store("out", (zero,), Load("r", (zero,), F32))
    body = (If(Const(1, I32), (Alloc(buf), use), (Alloc(buf), use)), use)
    first, second = uniquify(body, {"r", "out"})[0].then, uniquify(body, {"r", "out"})[0].orelse  # type: ignore[union-attr]
    assert first == (Alloc(buf), use)
    assert second[0].buf.name == "r_2"  # type: ignore[union-attr]
    assert second[1].value.buffer == "r_2"  # type: ignore[union-attr]


@pytest.mark.parametrize("sizes", SIZES)
def test_idle_lanes_read_what_is_there(sizes: tuple[int, int, int]) -> None:
    """The simulator finds no access out of bounds and nothing uninitialised."""
    m, n, k = sizes
    program = read_program(WORKLOADS["matmul"].source, defines={"M": m, "N": n, "K": k})
    plan = check(program, parse_schedule(Source("s.mdh", ROWS)), load_machine("generic-cpu"), "opencl")
    rng = np.random.default_rng(2)
    arrays = {
        name: rng.integers(-4, 5, shape).astype(np.float32)
        for name, shape in (("A", (m, k)), ("B", (k, n)), ("C", (m, n)))
    }
    want = arrays["C"] + arrays["A"] @ arrays["B"]
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert (arrays["C"] == want).all()


def test_packed_panels_have_slack_where_lanes_pass_their_end() -> None:
    text = text_of(ROWS.replace("64", "26").replace("^, B:SM[1,2] ; ^", "^, B:SM[1,2] ; ^"), (23, 26, 31))
    assert "float B_SM[812]" in text  # 31 rows of 26, and 6 that the fourth vector of the last row reads
    assert "vec_j" not in text


def test_reads_of_memory_keep_their_guards() -> None:
    """B is not packed: a lane past the edge would leave the array."""
    assert "vec_j" in text_of(BOTH, (23, 70, 31))


DIVIDED = """
void divided(const int A[9][26], const int B[26], int C[9][26]) {
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 26; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 3; k++)
        C[i][j] += (k + 7) / B[j];
    }
}
"""
PACKED = """
1: (de-)comp( ^, ^, ^ )  ( ^, B:SM[1] ; ^ ) ( ^, ^, ^ )
2: (de-)comp( 3, 16, ^ ) ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ )
3: (de-)comp( ^, ^, 1 )  ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
4: (de-)comp( 1, 8, ^ )  ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ ) @unroll
5: (de-)comp( ^, 1, ^ )  ( ^, ^ ; ^ )         ( ^, VEC.x, ^ )
"""


def test_idle_lanes_divide_nothing() -> None:
    """Whole numbers divided by a zero that lies behind the edge would end the process."""
    program = read_program(Source("divided.c", DIVIDED.replace("const int A[9][26], ", "")))
    parsed = parse_schedule(
        Source("s.mdh", PACKED.replace("( ^, B:SM", "( B:SM").replace("( ^, ^ ;", "( ^ ;"))
    )
    device = open_device("opencl:0")
    plan = check(program, parsed, device.machine, "opencl")
    arrays = {"B": np.arange(1, 27, dtype=np.int32), "C": np.zeros((9, 26), np.int32)}
    device.build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert (arrays["C"] == sum((k + 7) // arrays["B"] for k in range(3))).all()
