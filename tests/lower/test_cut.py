"""Tiles that the edge cuts, on CPUs: loops end where the points end, and no guard is left inside."""

import re

import numpy as np
import pytest

from mdh.check.run import check
from mdh.device.api import open_device
from mdh.frontend.c import read_program
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Const, Load
from mdh.ir.kernel import Alloc, Buf, If, Space, Store
from mdh.lower.passes.apart import apart
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.corpus import WORKLOADS

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
    first, second = apart(body, {"r", "out"})[0].then, apart(body, {"r", "out"})[0].orelse  # type: ignore[union-attr]
    assert first == (Alloc(buf), use)
    assert second[0].buf.name == "r_2"  # type: ignore[union-attr]
    assert second[1].value.buffer == "r_2"  # type: ignore[union-attr]
