"""What warp groups and the copy engine must not touch: elements that do not exist, parts of sums, and slots
that other threads still read. Defaults for results and sums that such schedules do not fit."""

import numpy as np
import pytest

from mdh.diagnostics import Failed
from tests.atoms.products import computed, lowered
from tests.atoms.test_defaults import defaulted

ROLES = "@roles(load=1, math=1)"
PARTS = "{}:SM[1,2{}]@copy(tma)@swizzle(64)"
BATCH = """void p(const __bf16 A[{all}][64][64], const __bf16 B[{all}][64][64], float C[{all}][64][64]) {{
  for (int b = 0; b < {count}; b++) for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) {{
    float s = 0;
    for (int k = 0; k < 64; k++) s += (float)A[b][i][k] * (float)B[b][k][j];
    C[b][i][j] = s;
  }}
}}
"""
BATCH_STEPS = """1: (de-)comp( 2, 64, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^ ) {grid}
2: (de-)comp( {held}, ^, ^, 32 ) ( {a}, {b} ; C:RM[1,2,3]@store(tma) ) ( FOR.1, ^, ^, FOR.2 )
3: (de-)comp( 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^, ^, ^ )
4: (de-)comp( ^, 64, 64, 16 ) ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""
SUM = """void p(const __bf16 A[256][64], const __bf16 B[64][64], float C[256][64]) {{
  for (int i = 0; i < 256; i++) for (int j = 0; j < 64; j++) {{
    float s = 0;
    for (int k = 0; k < 64; k++) s += (float)A[i][k] * (float)B[k][j];
    C[i][j] = s{more};
  }}
}}
"""
WITH_A = SUM.format(more=" + (float)A[i][j]")


def _batch(grid: str, held: str = "1") -> str:
    a, b = (PARTS.format(x, ",3") for x in "AB")
    return BATCH_STEPS.format(grid=grid, held=held, a=a, b=b)


def _steps(outer: str, inner: str) -> str:
    a, b = (PARTS.format(x, "") for x in "AB")
    return f"""1: (de-)comp( 256, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {ROLES}
{outer.format(ab=f"{a}, {b}")}
{inner}
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""


def test_boxes_of_products_that_do_not_exist_are_refused() -> None:
    with pytest.raises(Failed, match="tiles of `b` are cut inside of the array"):
        lowered(BATCH.format(all=4, count=3), _batch(ROLES))


@pytest.mark.parametrize("held", ["1", "^"])
@pytest.mark.parametrize("grid", ["", ROLES])
def test_products_of_a_batch_in_a_loop(grid: str, held: str) -> None:
    """Behind the end of the array nothing is stored. Held for both turns of a loop, each leaves by itself."""
    before, after = computed(BATCH.format(all=3, count=3), _batch(grid, held))
    wanted = np.matmul(before["A"].astype(float), before["B"].astype(float))
    np.testing.assert_array_equal(after["C"].astype(float), wanted)


def test_parts_of_a_sum_do_not_leave_by_the_copy_engine() -> None:
    """The next part would read them before they are stored."""
    outer = "2: (de-)comp( ^, ^, 32 ) ( {ab} ; ^ ) ( ^, ^, FOR.1 ) @stages(2)"
    inner = "3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; C:RM[1,2]@store(tma) ) ( FOR.1, ^, ^ )"
    with pytest.raises(Failed, match="partial results are stored between"):
        lowered(SUM.format(more=""), _steps(outer, inner))


@pytest.mark.parametrize("seed", range(3))
def test_slots_that_an_epilogue_reads(seed: int) -> None:
    """Each thread reads them by itself, so that each must say when it has."""
    outer = "2: (de-)comp( 64, ^, ^ ) ( {ab} ; ^ ) ( FOR.1, ^, ^ )"
    inner = "3: (de-)comp( ^, ^, 32 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )"
    before, after = computed(WITH_A, _steps(outer, inner), seed=seed)
    a, b = (before[x].astype(float) for x in "AB")
    np.testing.assert_array_equal(after["C"].astype(float), a @ b + a)


def test_boxes_that_nobody_reads() -> None:
    """The epilogue reads A behind the loop whose turns copy it."""
    outer = "2: (de-)comp( ^, ^, 32 ) ( {ab} ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)"
    inner = "3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^, ^ )"
    before, after = computed(WITH_A, _steps(outer, inner))
    a, b = (before[x].astype(float) for x in "AB")
    np.testing.assert_array_equal(after["C"].astype(float), a @ b + a)


NARROW = """void p(const __bf16 A[1280][640], const __bf16 B[512][640], __bf16 C[1280][512]) {
  for (int i = 0; i < 1280; i++) for (int j = 0; j < 512; j++) {
    float s = 0;
    for (int k = 0; k < 640; k++) s += (float)A[i][k] * (float)B[j][k];
    C[i][j] = (__bf16)s;
  }
}
"""  # 160 columns are no boxes of 64
LONGER = """void p(const __bf16 A[1024][1024], const __bf16 B[1024][1024], float C[1024][1024]) {
  for (int i = 0; i < 1024; i++) for (int j = 0; j < 1024; j++) {
    float s = 0;
    for (int k = 0; k < 1000; k++) s += (float)A[i][k] * (float)B[k][j];
    C[i][j] = s;
  }
}
"""
SINGLE = """void p(const _Float16 A[72][72], const _Float16 B[72][128], _Float16 C[64][128]) {
  for (int i = 0; i < 64; i++) for (int j = 0; j < 128; j++) {
    float s = 0;
    for (int k = 0; k < 72; k++) s += (float)A[k][i] * (float)B[k][j];
    C[i][j] = (_Float16)(2 * s + C[i][j]);
  }
}
"""


@pytest.mark.parametrize("machine", ["h200", "a100"])
@pytest.mark.parametrize("c", [NARROW, LONGER, SINGLE], ids=["narrow", "longer", "single"])
def test_defaults_are_legal(c: str, machine: str) -> None:
    """Of narrow results, of arrays longer than the sum, and where a pair of blocks is the whole grid."""
    defaulted(c, machine)
