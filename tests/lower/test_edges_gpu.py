"""Tiles that the edge cuts, on GPUs: points past the edge compute on zeros, and copies stay wide."""

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.corpus import WORKLOADS

TILES = """
1: (de-)comp( 16, 32, {split} ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, BLK.z )
2: (de-)comp( ^, ^, {slab} ) ( A:SM[2,1]@pad(4), B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
"""
SIZES = ((20, 36, 24), (19, 37, 23), (18, 38, 10), (16, 33, 8), (40, 64, 42))


def text_of(program: Program, schedule: str, machine: str = "h200", target: str = "cuda") -> str:
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), load_machine(machine), target)
    return emit(lower(plan), program).source


def run(program: Program, schedule: str, arrays: dict[str, np.ndarray]) -> None:
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), load_machine("oclgrind"), "opencl")
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()


def product(sizes: tuple[int, int, int]) -> Program:
    return read_program(WORKLOADS["matmul"].source, defines=dict(zip("MNK", sizes, strict=True)))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("split, slab", [("^", 8), (16, 8), (12, 8)])
def test_products(sizes: tuple[int, int, int], split: object, slab: int) -> None:
    """The simulator finds no race, no access out of bounds and nothing uninitialised; slabs that pass the end
    of a block's part of the sum stay out of the next one's."""
    if split != "^" and int(str(split)) >= sizes[2]:
        split = "^"
    schedule = TILES.format(split=split, slab=slab)
    if split == "^":
        schedule = schedule.replace("BLK.z", "^")
    m, n, k = sizes
    rng = np.random.default_rng(4)
    arrays = {
        name: rng.integers(-4, 5, shape).astype(np.float32)
        for name, shape in (("A", (m, k)), ("B", (k, n)), ("C", (m, n)))
    }
    want = arrays["C"] + arrays["A"] @ arrays["B"]
    run(product(sizes), schedule, arrays)
    assert (arrays["C"] == want).all()


def test_infinities_stay_where_they_are() -> None:
    """Zeros past the edge meet zeros only: a product with an infinity would be no number."""
    m, n, k = 18, 34, 10
    rng = np.random.default_rng(5)
    a, b = (rng.integers(1, 5, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    a[-1, -1] = b[-1, -1] = np.inf
    arrays = {"A": a, "B": b, "C": np.zeros((m, n), np.float32)}
    want = a @ b
    run(product((m, n, k)), TILES.format(split="^", slab=8).replace("BLK.z", "^"), arrays)
    assert (arrays["C"] == want).all()


@pytest.mark.parametrize("sizes, wide", [((20, 36, 24), True), ((20, 37, 24), False)])
def test_no_guard_is_left_in_the_product(sizes: tuple[int, int, int], wide: bool) -> None:
    text = text_of(product(sizes), TILES.format(split="^", slab=8).replace("BLK.z", "^"))
    edge = text.split("tiles cut by the edge")[1]
    inner = edge[: edge.index("C_RM[")].rpartition("for (int k_4")[2]
    assert "if (" not in inner
    assert ("*(const float4 *)&B[" in edge) == wide


@pytest.mark.parametrize("columns, vector", [(36, "float4"), (38, "float2"), (37, "")])
@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_one_guard_a_vector(columns: int, vector: str, target: str) -> None:
    """An edge at a multiple of the width has each vector on one side; what a result started from is read
    under the guard's condition, in front of the branch."""
    schedule = TILES.format(split="^", slab=8).replace("BLK.z", "^")
    text = text_of(product((20, columns, 24)), schedule, target=target)
    close = text.split("tiles cut by the edge")[1].rpartition("for (int i_")[2]
    assert close.count("if (") == 1
    guard, access = close.index("if ("), close.index("C[")
    assert access < guard, "read in front of the guard"
    kept = close[guard:]
    if vector:
        assert f"{vector} *)&C[" in kept or f"vstore{vector[-1]}" in kept
    else:
        assert "*)&C[" not in kept
    assert close.count("C[") == 2


def test_vectors_that_the_edge_would_cut_stay_apart() -> None:
    """Columns are a multiple of 4 elements in memory, but the results end at one that is not."""
    text = text_of(read_program(Source("part.c", PART)), COLUMNS)
    whole, edge = text.split("tiles cut by the edge")
    assert "*(float4 *)&y[" in whole
    assert "float4 *)&y[" not in edge
    assert "*(float2 *)&y[" in edge


PART = """
void part(const float x[8][64], float y[8][64]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 54; j++)
      y[i][j] = x[i][j] * 2.0f;
}
"""
COLUMNS = """
1: (de-)comp( ^, 32 ) ( ^ ; ^ ) ( ^, BLK.x )
2: (de-)comp( 1, 4 )  ( ^ ; ^ ) ( THR.y, THR.x )
3: (de-)comp( ^, 1 )  ( ^ ; ^ ) ( ^, VEC.x )
"""


@pytest.mark.parametrize("rows", [1, 3])
def test_a_cut_map_in_vectors(rows: int) -> None:
    text = PART.replace("54", "52").replace("[8]", f"[{rows}]").replace("i < 8", f"i < {rows}")
    program = read_program(Source("part.c", text))
    edge = text_of(program, COLUMNS).split("tiles cut by the edge")[1]
    assert "*(float4 *)&y[" in edge
    x = np.arange(rows * 64, dtype=np.float32).reshape(rows, 64)
    arrays = {"x": x, "y": np.full_like(x, -1)}
    want = np.where(np.arange(64) < 52, 2 * x, np.float32(-1))
    run(program, COLUMNS, arrays)
    assert np.array_equal(arrays["y"], want)


LARGEST = """
void largest(const float A[21][19], const float B[19][37], float C[21][37]) {
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 37; j++) {
      float most = A[i][0] * B[0][j];
      for (int k = 1; k < 19; k++)
        most = most < A[i][k] * B[k][j] ? A[i][k] * B[k][j] : most;
      C[i][j] = most;
    }
}
"""


def test_zeros_are_not_the_largest() -> None:
    """What adds nothing to a sum may be more than all of a maximum."""
    rng = np.random.default_rng(6)
    a, b = rng.uniform(-2, -1, (21, 19)).astype(np.float32), rng.uniform(1, 2, (19, 37)).astype(np.float32)
    program = read_program(Source("largest.c", LARGEST))
    arrays = {"A": a, "B": b, "C": np.zeros((21, 37), np.float32)}
    run(program, TILES.format(split="^", slab=8).replace("BLK.z", "^"), arrays)
    assert np.array_equal(arrays["C"], (a[:, :, None] * b).max(axis=1))


SHIFTED = """
void shifted(const float A[24], const float F[5], float C[20]) {
  for (int i = 0; i < 20; i++) {
    C[i] = 0.0f;
    for (int r = 0; r < 5; r++)
      C[i] += A[i + r] * F[r];
  }
}
"""
WINDOWS = """
1: (de-)comp( 8, ^ ) ( ^, ^ ; ^ )         ( BLK.x, ^ )
2: (de-)comp( ^, 2 ) ( A:SM[1], F:SM[1] ; C:RM[1] ) ( ^, FOR.1 )
3: (de-)comp( 2, ^ ) ( ^, ^ ; ^ )         ( THR.x, ^ )
4: (de-)comp( ^, 1 ) ( ^, ^ ; ^ )         ( ^, FOR.1 )
"""


def test_a_factor_that_does_not_end_keeps_its_guard() -> None:
    """Past the last weight there are elements of A, and one of them may be infinite."""
    a, f = np.arange(24, dtype=np.float32), np.arange(1, 6, dtype=np.float32)
    a[23] = np.inf
    arrays = {"A": a, "F": f, "C": np.zeros(20, np.float32)}
    run(read_program(Source("shifted.c", SHIFTED)), WINDOWS, arrays)
    assert np.array_equal(arrays["C"], np.correlate(a, f, "valid"), equal_nan=True)


SLIDING = """
1: (de-)comp( 1, 1, ^, {rows}, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.z, ^, BLK.y, ^, ^, ^, ^ )
2: (de-)comp( ^, ^, ^, ^, ^, 2, ^, ^ )
            ( I:SM[1,2,3,4,5], weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
            ( ^, ^, ^, ^, ^, FOR.1, ^, ^ ) {stages}
3: (de-)comp( 1, ^, 1, 3, 4, ^, ^, ^ )  ( ^, ^ ; ^ ) ( ^, ^, THR.z, THR.y, THR.x, ^, ^, ^ )
4: (de-)comp( ^, ^, ^, ^, ^, 1, 1, 1 )
            ( {fragments} ; ^ ) ( ^, ^, ^, ^, ^, FOR.1, FOR.2, FOR.3 ) @unroll
"""
FRAGMENTS = ("I:RM[1,2,3,4,5], weight:RM[1,2,3,4,5]", "^, ^")


@pytest.mark.parametrize("fragments", FRAGMENTS)
@pytest.mark.parametrize("stages", ["", "@stages(2)"])
@pytest.mark.parametrize("rows, height, width, channels", [("^", 7, 10, 4), (4, 7, 9, 3), (7, 13, 5, 5)])
def test_windows_past_the_edge(
    fragments: str, stages: str, rows: object, height: int, width: int, channels: int
) -> None:
    """Threads whose tiles leave the block's read what is there, and tests stay out of the products; sums that
    end inside of a slab stop there."""
    sizes = {"N": 2, "G": 2, "C": channels, "F": 3, "H": height, "W": width, "R": 3, "S": 3}
    program = read_program(WORKLOADS["grouped_conv"].source, defines=sizes)
    schedule = SLIDING.format(rows=rows, stages=stages, fragments=fragments)
    rng = np.random.default_rng(6)
    image = rng.integers(-4, 5, (2, 2, channels, height + 2, width + 2)).astype(np.float32)
    weight = rng.integers(-4, 5, (2, 3, channels, 3, 3)).astype(np.float32)
    arrays = {"I": image, "weight": weight, "O": np.zeros((2, 2, 3, height, width), np.float32)}
    want = sum(
        np.einsum("ngcpq,gfc->ngfpq", image[..., r : r + height, s : s + width], weight[..., r, s])
        for r in range(3)
        for s in range(3)
    )
    run(program, schedule, arrays)
    assert (arrays["O"] == want).all()


@pytest.mark.parametrize("fragments", FRAGMENTS)
def test_no_window_is_tested(fragments: str) -> None:
    sizes = {"N": 2, "G": 2, "C": 4, "F": 3, "H": 7, "W": 10, "R": 3, "S": 3}
    program = read_program(WORKLOADS["grouped_conv"].source, defines=sizes)
    text = text_of(program, SLIDING.format(rows="^", stages="", fragments=fragments))
    inner = text[text.index("for (int s_4") : text.index("O_RM[", text.index("for (int s_4"))]
    assert " ? " not in inner and "if (" not in inner
