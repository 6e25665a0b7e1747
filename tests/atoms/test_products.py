"""Kernels with atoms compute what the C says: all types and layouts, edges, epilogues, splits."""

from dataclasses import replace

import numpy as np
import pytest

from mdh.ir.kernel import Barrier, Wait
from mdh.ir.walk import with_bodies
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, Tiling, computed, lowered, whole_numbers
from tests.atoms.warps import run

HALF = Tiling((64, 64, 32), (32, 32), (16, 8, 16))
LAYOUTS = ("NN", "NT", "TN", "TT")


def right(product: Product, tiling: Tiling, seed: int = 0) -> None:
    before, after = computed(product.text, tiling.text, seed=seed)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("kind", "k"), [("bf16", 16), ("f16", 16), ("bf16", 8)])
def test_halves(kind: str, k: int, layout: str) -> None:
    right(Product(kind, layout, 128, 64, 64), replace(HALF, atom=(16, 8, k)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("atom", [(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)])
def test_doubles(atom: tuple[int, int, int], layout: str) -> None:
    tiling = Tiling((32, 64, 16), (32, 32), atom, rows=("@pad(4)", "@pad(4)"))
    right(Product("f64", layout, 64, 64, 48), tiling)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("kind", "k"), [("i8", 32), ("u8", 32), ("i8", 16)])
def test_bytes(kind: str, k: int, layout: str) -> None:
    along_k = ("1,2" if layout[0] == "N" else "2,1", "2,1" if layout[1] == "N" else "1,2")
    tiling = Tiling((64, 64, 64), (32, 32), (16, 8, k), copy="plain", rows=("@pad(16)",) * 2, layouts=along_k)
    right(Product(kind, layout, 64, 64, 128), tiling)


@pytest.mark.parametrize("layout", ["NN", "TT"])
@pytest.mark.parametrize("copy", ["plain", "async"])
def test_edges(layout: str, copy: str) -> None:
    sizes = (100, 72, 56) if copy == "async" else (67, 70, 45)
    right(Product("bf16", layout, *sizes), replace(HALF, copy=copy))


@pytest.mark.parametrize(
    "tiling",
    [
        replace(HALF, stages=1),
        replace(HALF, stages=4, rows=("", "")),
        replace(HALF, block=(64, 64, 64), stages=3, rows=("@swizzle(128)", "@swizzle(128)")),
        replace(HALF, grid="@persistent @order(grouped(2))"),
        replace(HALF, held="^"),
        replace(HALF, held="C:SM[1,2]"),
        replace(HALF, block=(64, 64, 48)),
        Tiling((16, 8, 32), (16, 8), (16, 8, 16)),
    ],
    ids=["plain", "four slots", "swizzled", "persistent", "not held", "held in SM", "ragged k", "one atom"],
)
def test_schedules(tiling: Tiling) -> None:
    right(Product("bf16", "NN", 128, 128, 128), tiling, seed=3)


SPLIT = """1: (de-)comp( 64, 64, 64 ) ( ^, ^ ; ^{how} ) ( BLK.y, BLK.x, BLK.z )
2: (de-)comp( ^, ^, 32 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 32, 64, 16 ) ( ^, ^ ; ^ ) ( WRP.y, ^, WRP.x )
4: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""


@pytest.mark.parametrize("how", ["", "@combine(atomic)"])
def test_sums_split_over_blocks_and_warps(how: str) -> None:
    product = Product("bf16", "NN", 64, 64, 128)
    before, after = computed(product.text, SPLIT.replace("{how}", how))
    np.testing.assert_array_equal(after["C"], product.expected(before))


SCALED = """void f(float alpha, float beta, const __bf16 A[64][64], const __bf16 B[64][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < 64; k++)
        C[i][j] += alpha * (float)A[i][k] * (float)B[k][j];
    }
}
"""
BIAS = """void f(const _Float16 A[100][64], const _Float16 B[64][72], const float bias[72],
       _Float16 C[100][72]) {
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 72; j++) {
      float sum = bias[j];
      for (int k = 0; k < 64; k++)
        sum += (float)A[i][k] * (float)B[k][j];
      C[i][j] = (_Float16)(sum > 0.0f ? sum : 0.0f);
    }
}
"""


def test_factors_and_starts() -> None:
    before, after = computed(SCALED, HALF.text, {"alpha": 2.0, "beta": 0.5})
    a, b, c = (before[x].astype(np.float64) for x in "ABC")
    np.testing.assert_array_equal(after["C"], 0.5 * c + 2 * (a @ b))


def test_bias_activation_conversion() -> None:
    schedule = HALF.text.replace("( ^, ^ ;", "( ^, ^, ^ ;").replace("@copy(async) ;", "@copy(async), ^ ;")
    before, after = computed(BIAS, schedule)
    a, b, bias = (before[x].astype(np.float64) for x in ("A", "B", "bias"))
    np.testing.assert_array_equal(after["C"].astype(np.float64), np.maximum(a @ b + bias, 0))


BATCH = """void f(const __bf16 A[32][3][64], const __bf16 B[3][64][32], float C[3][32][32]) {
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 32; i++)
      for (int j = 0; j < 32; j++) {
        float sum = 0;
        for (int k = 0; k < 64; k++)
          sum += (float)A[i][b][k] * (float)B[b][k][j];
        C[b][i][j] = sum;
      }
}
"""
BATCHED = """1: (de-)comp( 1, 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, ^, 32 ) ( A:SM[1,2,3]@pad(8), B:SM[1,2,3]@pad(8) ; C:RM[1,2,3] ) ( ^, ^, ^, FOR.1 )
3: (de-)comp( 1, 16, 8, 16 ) ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.n, MMA.k )
"""


def test_batches() -> None:
    before, after = computed(BATCH, BATCHED)
    a, b = (before[x].astype(np.float64) for x in "AB")
    np.testing.assert_array_equal(after["C"], np.einsum("ibk,bkj->bij", a, b))


TWO = """void f(const __bf16 A[32][5][32], const __bf16 B[5][32][32], float C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      float sum = 0;
      for (int l = 0; l < 5; l++)
        for (int k = 0; k < 32; k++)
          sum += (float)A[i][l][k] * (float)B[l][k][j];
      C[i][j] = sum;
    }
}
"""
TWO_LOOPS = """1: (de-)comp( 32, 32, 2, 32 )
             ( A:SM[1,2,3]@pad(8), B:SM[1,2,3]@pad(8) ; C:RM[1,2] ) ( ^, ^, FOR.1, ^ )
2: (de-)comp( 16, 8, 1, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^, ^ )
3: (de-)comp( 16, 8, 1, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, ^, MMA.k )
"""


def test_another_sum_around_with_a_remainder() -> None:
    before, after = computed(TWO, TWO_LOOPS)
    a, b = (before[x].astype(np.float64) for x in "AB")
    np.testing.assert_array_equal(after["C"], np.einsum("ilk,lkj->ij", a, b))


SQUARE = """void f(const __bf16 A[64][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float sum = 0;
      for (int k = 0; k < 64; k++)
        sum += (float)A[i][k] * (float)A[j][k];
      C[i][j] = sum;
    }
}
"""


def test_both_factors_from_one_array() -> None:
    schedule = HALF.text.replace("( ^, ^ ; ^", "( ^ ; ^").replace(", B:SM[1,2]@pad(8)@copy(async)", "")
    before, after = computed(SQUARE, schedule)
    a = before["A"].astype(np.float64)
    np.testing.assert_array_equal(after["C"], a @ a.T)


@pytest.mark.parametrize("kind", ["bf16", "f64", "i8"])
def test_texts_compile_clean(kind: str) -> None:
    tilings = {
        "bf16": HALF,
        "f64": Tiling((32, 64, 16), (32, 32), (8, 8, 4), rows=("@pad(4)", "@pad(4)")),
        "i8": Tiling((64, 64, 64), (32, 32), (16, 8, 32), rows=("@pad(16)", "@pad(16)")),
    }
    product = Product(kind, "NT", 100, 72, 64)
    for machine, arch in (("a100", "sm_80"), ("h200", "sm_90a")):
        program, module = lowered(product.text, tilings[kind].text, machine)
        cubin = compile_cubin(emit(module, program), arch)
        assert cubin.warnings == ()
        assert cubin.spill_bytes == 0


def test_barriers_matter_to_the_interpreter() -> None:
    """A kernel without them is found out: warps come in any order, and copies land late."""
    product = Product("bf16", "NN", 64, 64, 128)
    program, module = lowered(product.text, HALF.text)

    def without(kinds: type) -> float:
        def rest(body: tuple[object, ...]) -> tuple[object, ...]:
            return tuple(with_bodies(s, rest) for s in body if not isinstance(s, kinds))  # type: ignore[arg-type]

        (kernel,) = module.kernels
        faulty = replace(module, kernels=(replace(kernel, body=rest(kernel.body)),))  # type: ignore[arg-type]
        arrays = whole_numbers(program)
        run(faulty, arrays, seed=1)
        off = arrays["C"].astype(np.float64) - product.expected(arrays)
        return float(np.nan_to_num(np.abs(off), nan=1e9).max())

    assert without(type(None)) == 0
    assert without(Barrier) > 0
    assert without(Wait) > 0
