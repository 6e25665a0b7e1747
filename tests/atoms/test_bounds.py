"""Bounds of sums that tensor cores add: their errors have one sign where the terms have, and factors may be
rounded to fewer bits."""

import json
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mdh.ir.numerics import OWN, ByStage, Numerics, assumed, numerics_of
from mdh.ir.product_sum import truncating
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate_bounded
from mdh.reference.judge import expected
from mdh.source import Source
from mdh.tuner.measure.inputs import read_set, write_expected
from mdh.tuner.measure.wire import numerics_json, read_numerics
from mdh.verify.arguments import make_arrays
from tests.atoms.blocks import numpy_type
from tests.atoms.products import Product, Tiling, planned
from tests.atoms.warps import run

UNIT = 2.0**-24
F32_PRODUCT = """
void product(const float A[2][256], const float B[256][2], float C[2][2]) {
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      float sum = 0;
      for (int k = 0; k < 256; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
"""
PROGRAM = Pipeline().read(Source("p.c", F32_PRODUCT))


@pytest.mark.parametrize(("kind", "can"), [("bf16", True), ("f16", True), ("f64", False), ("i8", False)])
def test_which_sums_are_cut_off(kind: str, can: bool) -> None:
    program = Pipeline().read(Source("p.c", Product(kind, "NN", 4, 4, 8).text))
    assert truncating(program.stages[0]) is can


def test_long_sums_of_positive_numbers() -> None:
    """4096 terms: a cut of half a unit each, by both judges."""
    program = Pipeline().read(Source("p.c", Product("bf16", "NN", 2, 2, 4096).text))
    draw = np.random.default_rng(0)
    arrays = {x: draw.random(s).astype(ml_dtypes.bfloat16) for x, s in (("A", (2, 4096)), ("B", (4096, 2)))}
    arrays["C"] = np.zeros((2, 2), np.float32)
    size = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
    for want in (evaluate_bounded(program, arrays), expected(program, arrays, {}).want):
        bound = want["C"].bound
        assert bound is not None
        assert (bound >= 2048 * UNIT * size).all()
        assert (bound <= 2500 * UNIT * size).all()


def test_strict_sums_are_not_cut_off() -> None:
    text = Product("bf16", "NN", 4, 4, 8).text
    program = Pipeline().read(Source("p.c", text), strict_fp=True)
    assert not truncating(program.stages[0])


ROUNDED = Numerics(factor_bits=11, sum_bits=23, block=4)
CUT_OFF = replace(ROUNDED, cuts_factors=True)
FEW_BITS = Numerics(sum_bits=13, block=32)


def of_product(one: Numerics) -> ByStage:
    return ((PROGRAM.stages[0].name, one),)


def test_plans_with_atoms_say_how_they_add() -> None:
    program, plan = planned(
        Product("bf16", "NN", 32, 32, 32).text, Tiling((32, 32, 32), (16, 16), (16, 8, 16)).text
    )
    assert numerics_of(plan) == ((program.stages[0].name, assumed(program.stages[0])),)
    _, plan = planned(
        Product("i8", "NT", 32, 32, 32).text,
        Tiling((32, 32, 32), (16, 16), (16, 8, 32), rows=("@pad(16)", "@pad(16)")).text,
    )
    assert [one for _, one in numerics_of(plan)] == [OWN]
    plain = "1: (de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )"
    assert numerics_of(planned(Product("bf16", "NN", 4, 4, 8).text, plain)[1]) == ()


@pytest.mark.parametrize(
    ("one", "most"),
    [(ROUNDED, 2 * 2.0**-11 + 64 * 2.0**-23), (CUT_OFF, 2 * 2.0**-10 + 64 * 2.0**-23),
     (FEW_BITS, 8 * 2.0**-13), (replace(FEW_BITS, promote=64), 2 * 2.0**-13)],
)  # fmt: skip
def test_what_the_numerics_of_a_plan_add(one: Numerics, most: float) -> None:
    """256 terms, by both judges: the part of the sum of absolute values beside what the types allow."""
    draw = np.random.default_rng(0)
    arrays = {
        x: draw.random(s).astype(np.float32) for x, s in (("A", (2, 256)), ("B", (256, 2)), ("C", (2, 2)))
    }
    size = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
    plain = evaluate_bounded(PROGRAM, arrays)["C"].bound
    assert plain is not None
    numerics = of_product(one)
    for want in (
        evaluate_bounded(PROGRAM, arrays, numerics=numerics),
        expected(PROGRAM, arrays, {}, numerics=numerics).want,
    ):
        bound = want["C"].bound
        assert bound is not None
        np.testing.assert_allclose((bound - plain) / size, most, rtol=1e-3)
    assert (evaluate_bounded(PROGRAM, arrays, numerics=of_product(OWN))["C"].bound == plain).all()


def test_small_integers_are_exact_with_fewer_bits() -> None:
    arrays = {"A": np.full((2, 256), 3.0, np.float32), "B": np.ones((256, 2), np.float32)}
    arrays["C"] = np.zeros((2, 2), np.float32)
    for judge in (
        lambda: evaluate_bounded(PROGRAM, arrays, exact=True, numerics=of_product(ROUNDED)),
        lambda: expected(PROGRAM, arrays, {}, exact=True, numerics=of_product(ROUNDED)).want,
    ):
        arrays["A"][:] = 3
        assert judge()["C"].bound is None
        arrays["A"][:] = 2049
        assert judge()["C"].bound is not None


def test_sums_past_the_bits_of_the_accumulator_are_not_exact() -> None:
    arrays = {"A": np.full((2, 256), 64.0, np.float32), "B": np.ones((256, 2), np.float32)}
    arrays["C"] = np.zeros((2, 2), np.float32)
    assert evaluate_bounded(PROGRAM, arrays, exact=True, numerics=of_product(FEW_BITS))["C"].bound is None
    arrays["A"][:] = 65
    assert evaluate_bounded(PROGRAM, arrays, exact=True, numerics=of_product(FEW_BITS))["C"].bound is not None
    assert evaluate_bounded(PROGRAM, arrays, exact=True, numerics=of_product(ROUNDED))["C"].bound is None


def test_workers_judge_by_the_numerics_of_the_candidate(tmp_path: Path) -> None:
    numerics = read_numerics(json.loads(json.dumps(numerics_json(of_product(CUT_OFF)))))
    assert numerics == of_product(CUT_OFF)
    write_expected(PROGRAM, 0, 1, tmp_path)
    write_expected(PROGRAM, 0, 1, tmp_path, numerics)
    own, other = read_set(PROGRAM, 0, 1, tmp_path), read_set(PROGRAM, 0, 1, tmp_path, numerics)
    assert own.before["A"].tobytes() == other.before["A"].tobytes()
    assert own.want["C"].bound is not None and other.want["C"].bound is not None
    assert (other.want["C"].bound > 10 * own.want["C"].bound).all()


EIGHTHS = """1: (de-)comp( 64, 8, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 128 ) ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 64, 8, 32 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma) {}
"""  # noqa: E501


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("kind", ["f8e4m3", "f8mixed"])
def test_sums_of_eighths_are_within_their_bounds(kind: str, positive: bool) -> None:
    """In the interpreter, whose atoms keep 13 bits; a second accumulator makes the error smaller."""
    product, errors = Product(kind, "NT", 64, 8, 1024), []
    draw = np.random.default_rng(5)
    for said in ("", "@promote(256)", "@promote(128)", "@promote(64)"):
        program, plan = planned(product.text, EIGHTHS.format(said))
        arrays = {
            b.name: draw.uniform(0 if positive else -1, 1, b.shape).astype(numpy_type(b.dtype))
            for b in program.buffers
        }
        want = evaluate_bounded(program, arrays, numerics=numerics_of(plan))["C"]
        size = np.abs(arrays["A"].astype(float)) @ np.abs(arrays["B"].astype(float)).T
        run(Pipeline().lower(plan), arrays)
        off = np.abs(arrays["C"] - want.value)
        assert want.bound is not None and (off <= want.bound).all(), said
        errors.append(float((off / size).max()))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 4


@pytest.mark.parametrize(("said", "promote"), [("", 0), ("@promote(128)", 128)])
def test_numerics_of_eighths(said: str, promote: int) -> None:
    _, plan = planned(Product("f8e5m2", "NT", 64, 8, 1024).text, EIGHTHS.format(said))
    ((_, found),) = numerics_of(plan)
    assert (found.sum_bits, found.promote) == (13, promote)
    # terms up to 9: each sum of 128 is exact, and so is their sum in f32
    assert found.exact_sum(24, 9.0) == 2.0 ** (24 if promote else 14)


@pytest.mark.parametrize(("terms", "most"), [(64, 3), (2000, 2), (9000, 1)])
def test_integers_whose_sums_are_exact(terms: int, most: int) -> None:
    program = Pipeline().read(Source("p.c", Product("f8e4m3", "NT", 2, 2, terms).text))
    drawn = make_arrays(program, {}, 1, "exact")["A"].astype(int)
    assert np.abs(drawn).max() == most
