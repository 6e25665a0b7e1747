"""Fragments of f64 that are loaded while the atoms before them run: right for all tiles and slots, also where
the edge cuts them."""

import random

import numpy as np
import pytest

from mdh.machine import load_machine
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, computed, lowered

STEPS = """1: (de-)comp( {block[0]}, {block[1]}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, {depth} )
  ( {a}@copy(async else plain), {b}@copy(async else plain) ; C:RM[1,2] )
  ( ^, ^, FOR.1 ) @stages({slots}){unroll}
3: (de-)comp( {warp[0]}, {warp[1]}, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, {k} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
MEETS = "the next slot is filled"


def steps(
    block: tuple[int, int], warp: tuple[int, int], depth: int, k: int, slots: int, unroll: str = ""
) -> str:
    a, b = "A:SM[1,2]@pad(4)", "B:SM[1,2]@pad(4)"
    return STEPS.format(block=block, warp=warp, depth=depth, k=k, slots=slots, a=a, b=b, unroll=unroll)


@pytest.mark.parametrize("seed", range(14))
def test_random_tiles_are_right(seed: int) -> None:
    rng = random.Random(seed)
    warp = rng.choice([(16, 8), (32, 16), (16, 32), (32, 32)])
    block = warp[0] * rng.choice([1, 2]), warp[1] * rng.choice([1, 2, 4])
    k = rng.choice([4, 8])
    depth, slots = k * rng.choice([1, 2, 3, 4]), rng.choice([2, 3, 4, 5])
    m, n = (b * rng.choice([1, 2]) + rng.choice([0, 0, 2, 3]) for b in block)
    inner = depth * rng.choice([1, 2, 3, 5]) + rng.choice([0, 0, 2, 5])
    product = Product("f64", rng.choice(["NN", "NN", "NT", "TN"]) if depth >= 8 else "NN", m, n, inner)
    unroll = rng.choice(["", "", " @unroll(2)", " @unroll"])
    before, after = computed(product.text, steps(block, warp, depth, k, slots, unroll), seed=seed)
    np.testing.assert_allclose(after["C"], product.expected(before), rtol=1e-12)


@pytest.mark.parametrize("depth, k, ahead", [(16, 4, True), (16, 8, True), (8, 8, False), (24, 8, False)])
def test_two_halves_of_the_registers_take_turns(depth: int, k: int, ahead: bool) -> None:
    program, module = lowered(
        Product("f64", "NN", 256, 256, 24 * 16).text, steps((128, 64), (32, 32), depth, k, 3)
    )
    text = emit(module, program)
    assert (MEETS in text.source) is ahead
    cubin = compile_cubin(text, load_machine("h200").arch)
    assert (cubin.spill_bytes, cubin.warnings) == (0, ())


WINDOW = """void f(const double A[32][3][8], const double B[8][3][8], double C[32][8]) {
  for (int q = 0; q < 32; q++)
    for (int j = 0; j < 8; j++) {
      double sum = 0;
      for (int c = 0; c < 8; c++)
        for (int r = 0; r < 3; r++)
          sum += A[q][r][c] * B[j][r][c];
      C[q][j] = sum;
    } }
"""
OUTSIDE = """1: (de-)comp( ^, ^, 8, ^ ) ( A:SM[1,2,3]@copy(async), ^ ; ^ ) ( ^, ^, ^, ^ )
2: (de-)comp( ^, ^, ^, 1 ) ( ^, B:SM[1,2,3]@copy(async) ; ^ ) ( ^, ^, ^, ^ ) @stages(2)
3: (de-)comp( 16, ^, ^, ^ ) ( ^, ^ ; ^ ) ( WRP.x, ^, ^, ^ )
4: (de-)comp( 16, 8, 4, ^ ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k, ^ )
"""


def test_a_factor_that_is_copied_outside_of_the_loop_is_read_in_its_turn() -> None:
    """Its next part lies in no slot: it was read with the number of a turn that was not yet known."""
    before, after = computed(WINDOW, OUTSIDE)
    want = np.einsum("qrc,jrc->qj", before["A"], before["B"])
    np.testing.assert_allclose(after["C"], want, rtol=1e-12)
