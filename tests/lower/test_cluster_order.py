"""Clusters in an order of their own: a line of clusters, each with its blocks after one another."""

import numpy as np
import pytest

from tests.atoms.products import computed, lowered

PRODUCT = """void f(const float A[64][8], const float B[8][48], float C[64][48]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 48; j++) {
      float sum = 0;
      for (int k = 0; k < 8; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
"""
SCHEDULE = """1: (de-)comp( 16, 16, ^ ) ( ^, ^ ; ^ ) ( CLU.y, CLU.x, ^ ) {grid}
2: (de-)comp( 8, 8, ^ )   ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
3: (de-)comp( 2, 1, ^ )   ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
"""
GRIDS = ("@order(grouped(2))", "@order(hilbert)", "@persistent", "@persistent @order(grouped(2))")


@pytest.mark.parametrize("grid", GRIDS)
def test_tiles_are_those_of_clusters(grid: str) -> None:
    schedule = SCHEDULE.replace("{grid}", grid)
    _, module = lowered(PRODUCT, schedule)
    assert (module.kernels[0].launch.grid, module.kernels[0].launch.cluster) == ((48, 1, 1), (4, 1, 1))
    before, after = computed(PRODUCT, schedule)
    np.testing.assert_array_equal(after["C"], before["A"] @ before["B"])


def test_a_persistent_grid_is_whole_clusters() -> None:
    """132 multiprocessors hold 33 clusters of four blocks."""
    c = PRODUCT.replace("64", "640").replace("48", "480")
    _, module = lowered(c, SCHEDULE.replace("{grid}", "@persistent"))
    assert module.kernels[0].launch.grid == (132, 1, 1)
