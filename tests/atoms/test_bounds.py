"""Bounds of sums that tensor cores may add: their errors have one sign where the terms have."""

import ml_dtypes
import numpy as np
import pytest

from mdh.ir.product_sum import truncating
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate_bounded
from mdh.reference.judge import expected
from mdh.source import Source
from tests.atoms.products import Product

UNIT = 2.0**-24


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
