"""What the judge allows: the program in its own order and types is never wrong."""

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate_bounded
from mdh.reference.error import repeats, sum_factor
from mdh.source import Source

SUM = read_program(
    Source(
        "s.c",
        "void s(const float A[3][4096], float T[3]) { for (int i = 0; i < 3; i++) { T[i] = 0.0f;"
        " for (int j = 0; j < 4096; j++) T[i] += A[i][j]; } }",
    )
)
ROUNDOFF = 2.0**-24


def test_sums_of_equal_terms_in_order_are_right() -> None:
    """Each addition to a sum between 2 and 4 loses the same part of a small term."""
    rows = np.full((3, 4096), np.float32(np.exp(-14.0)))
    rows[:, 0] = (2.5, 3.0, 2.1)
    found = evaluate_bounded(SUM, {"A": rows, "T": np.zeros(3, np.float32)}, {}, exact=True)["T"]
    in_order = np.zeros(3, np.float32)
    for j in range(4096):
        in_order += rows[:, j]
    off = np.abs(in_order - found.value)
    size = np.abs(rows.astype(np.float64)).sum(axis=1)
    assert (off > sum_factor(4096) * ROUNDOFF * size).any(), "else this shows nothing"
    assert found.bound is not None and (off <= found.bound).all()


def test_terms_that_differ_keep_the_narrow_bound() -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (3, 4096)).astype(np.float32)
    found = evaluate_bounded(SUM, {"A": rows, "T": np.zeros(3, np.float32)}, {}, exact=False)["T"]
    assert found.bound is not None
    size = np.abs(rows.astype(np.float64)).sum(axis=1)
    assert (found.bound <= (sum_factor(4096) + 8) * ROUNDOFF * size).all()


@pytest.mark.parametrize(("axes", "want"), [((1,), [[2], [1], [3]]), ((0,), [[2, 1, 1, 1]]), ((0, 1), [[4]])])
def test_repeats(axes: tuple[int, ...], want: list[list[int]]) -> None:
    """Adding zeros is exact, however many there are."""
    values = np.array([[5.0, 2.0, 2.0, 1.0], [5.0, 0.0, 0.0, 0.0], [2.0, 3.0, 4.0, 2.0]])
    values[2] = (2.0, 2.0, 4.0, 2.0) if axes == (1,) else values[2]
    assert repeats(values, axes).tolist() == want
