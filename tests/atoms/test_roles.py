"""Roles: what a warp group that only copies changes for the others."""

from contextlib import suppress
from itertools import product as iproduct

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.tuner.space import make_space
from tests.atoms.products import Product, computed, lowered, planned

PRODUCT = """void product(const float A[8][16], const float B[16][32], float C[8][32]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 32; j++) {
      float sum = 0;
      for (int k = 0; k < 16; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
"""
THREADS = """1: (de-)comp( 8, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=1)
2: (de-)comp( ^, ^, 8 ) ( A:SM[1,2]@copy(tma), B:SM[1,2]@copy(tma) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 1, 2, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
"""


def test_threads_in_rows_and_columns() -> None:
    before, after = computed(PRODUCT, THREADS)
    np.testing.assert_array_equal(after["C"], before["A"] @ before["B"])


BATCHES = """void f(const __bf16 A[3][64][256], const __bf16 B[3][256][32], float C[3][64][32]) {
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 32; j++) {
        float sum = 0;
        for (int k = 0; k < 256; k++)
          sum += (float)A[b][i][k] * (float)B[b][k][j];
        C[b][i][j] = sum;
      }
}
"""
PAIRS = """1: (de-)comp( 2, 64, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^ ) @roles(load=1, math=1)
2: (de-)comp( 1, ^, ^, 32 )
             ( A:SM[1,2,3]@copy(tma)@swizzle(64), B:SM[1,2,3]@copy(tma)@swizzle(64) ; C:RM[1,2,3] )
             ( FOR.2, ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 1, 64, 32, 16 ) ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""


@pytest.mark.parametrize("seed", range(4, 7))
def test_turns_without_atoms(seed: int) -> None:
    """The last block has one product where the others have two: its warps meet in every other turn only."""
    before, after = computed(BATCHES, PAIRS, seed=seed)
    a, b = (before[x].astype(np.float64) for x in "AB")
    np.testing.assert_array_equal(after["C"], a @ b)


GROUPS = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=2, regs=24/240)
2: (de-)comp( ^, ^, 64 )
             ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] )
             ( ^, ^, FOR.1 ) @stages(3)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""


def test_registers_are_shared_out() -> None:
    """The compiler ignores what groups ask for, with a warning, if it does not know what they begin with."""
    program, module = lowered(Product("bf16", "NN", 256, 128, 256).text, GROUPS)
    cubin = compile_cubin(emit(module, program), "sm_90a")
    assert cubin.warnings == ()
    assert {k.registers for k in cubin.kernels.values()} == {168}


TURNS = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
             @persistent @roles(load=1, math={math}, {turns})
2: (de-)comp( ^, ^, 32 )
             ( A:SM[1,2]@copy(tma)@swizzle(64), B:SM[1,2]@copy(tma)@swizzle(64) ; C:RM[1,2]@store(tma) )
             ( ^, ^, FOR.1 ) @stages({slots})
3: (de-)comp( {rows}, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma){more}
"""


@pytest.mark.parametrize("units", [1, 2, 5])
@pytest.mark.parametrize("more", ["", " @inflight(0)", " @inflight(2)"])
@pytest.mark.parametrize(("math", "rows"), [(2, 128), (3, 128), (4, 64)])
def test_tiles_by_turns(math: int, rows: int, more: str, units: int) -> None:
    """In two teams or three, of a warp group or two; sums of five slices in three slots."""
    product = Product("bf16", "NN", 392, 200, 136)
    text = TURNS.format(math=math, turns="turns", rows=rows, slots=3, more=more)
    before, after = computed(product.text, text, seed=units, units=units)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


@pytest.mark.parametrize("k", [32, 64])
def test_turns_with_fewer_slices_than_slots(k: int) -> None:
    product = Product("f16", "NT", 520, 72, k, "_Float16")
    text = TURNS.format(math=2, turns="turns", rows=128, slots=4, more=" @inflight(2)")
    before, after = computed(product.text, text, seed=k, units=1)
    np.testing.assert_array_equal(after["C"].astype(float), product.expected(before))


def test_turns_in_an_open_schedule() -> None:
    """`?` stands for both ways; which tiles of a warp group are legal depends on it."""
    product = Product("bf16", "NN", 1024, 1024, 256)
    text = TURNS.format(math=2, turns="{turns}", rows="{rows}", slots=3, more="")
    program = read_program(Source("p.c", product.text))
    holes = Source("s.mdh", text.format(turns="?", rows="?{64,128}"))
    assert make_space(program, parse_schedule(holes), load_machine("h200"), "cuda").count == 4
    legal = []
    for turns, rows in iproduct(("together", "turns"), (64, 128)):
        with suppress(Failed):
            planned(product.text, text.format(turns=turns, rows=rows))
            legal.append((turns, rows))
    assert legal == [("together", 64), ("turns", 128)]
