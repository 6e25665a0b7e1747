"""Roles with programs of plain threads: coordinates of threads in a block that one more warp group joins."""

import numpy as np

from tests.atoms.products import computed

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
