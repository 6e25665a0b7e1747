"""Roles: what a warp group that only copies changes for the others."""

import numpy as np
import pytest

from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, computed, lowered

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
