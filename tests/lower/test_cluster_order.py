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
    """Of 132 multiprocessors, 120 hold 30 clusters of four blocks at once."""
    c = PRODUCT.replace("64", "640").replace("48", "480")
    _, module = lowered(c, SCHEDULE.replace("{grid}", "@persistent"))
    assert module.kernels[0].launch.grid == (120, 1, 1)


@pytest.mark.parametrize("grid", ("", *GRIDS))
def test_the_blocks_of_one_cluster_are_a_cluster(grid: str) -> None:
    schedule = SCHEDULE.replace("{grid}", grid).replace("16, 16", "^, ^").replace("8, 8", "16, 24")
    _, module = lowered(PRODUCT, schedule)
    launch = module.kernels[0].launch
    assert np.prod(launch.grid) == np.prod(launch.cluster) == 8
    before, after = computed(PRODUCT, schedule)
    np.testing.assert_array_equal(after["C"], before["A"] @ before["B"])


def test_more_blocks_than_a_cluster_has_are_a_grid_without_clusters() -> None:
    schedule = SCHEDULE.replace("{grid}", "").replace("16, 16", "^, ^")
    launch = lowered(PRODUCT, schedule)[1].kernels[0].launch
    assert (launch.grid, launch.cluster) == ((6, 8, 1), (1, 1, 1))


SUM = """void f(const float A[4096], float C[1]) {
  C[0] = 0;
  for (int i = 0; i < 4096; i++)
    C[0] += A[i];
}
"""


def test_blocks_of_one_cluster_join_their_sums_in_it() -> None:
    """Without a second kernel, by the memory of the first block."""
    schedule = """1: (de-)comp( ^ ) ( ^ ; ^ ) ( CLU.x )
2: (de-)comp( 1024 ) ( ^ ; ^ ) ( BLK.x )
3: (de-)comp( 8 ) ( ^ ; ^ ) ( THR.x )
"""
    _, module = lowered(SUM, schedule)
    assert len(module.kernels) == 1
    assert module.kernels[0].launch.cluster == (4, 1, 1)
