"""Sums of products by matrix products, and reads of windows, against numpy's plain ways."""

from random import Random

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.dtype import I32, I64, DType
from mdh.ir.numerics import OWN
from mdh.ir.program import Operator
from mdh.reference.bounded import BoundedArithmetic
from mdh.reference.contraction import contraction
from mdh.reference.error import Bounded
from mdh.reference.evaluate import evaluate, evaluate_bounded
from mdh.reference.numbers import Array, numpy_dtype
from mdh.reference.stage import pieces
from mdh.reference.windows import taken
from mdh.source import Source


def drawn_index(rng: Random, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """For each dimension numbers along an axis of a box, mostly consecutive ones."""
    rank = rng.randint(max(1, len(shape)), 4)
    axes = rng.sample(range(rank), len(shape)) if rng.random() < 0.8 else [rng.randrange(rank)] * len(shape)
    length = {axis: rng.randint(1, 4) for axis in axes}
    out = []
    for n, axis in zip(shape, axes, strict=True):
        count = length[axis]
        at = np.arange(count) + rng.randint(0, n - count)
        if rng.random() < 0.2:
            at = np.array([rng.randrange(n) for _ in range(count)])
        # trailing axes stay, leading ones may be left out
        kept = tuple(count if i == axis else 1 for i in range(rng.choice((0, axis)), rank))
        out.append(at.reshape(kept))
    return tuple(out)


@pytest.mark.parametrize("seed", range(200))
def test_taken_is_what_the_index_arrays_read(seed: int) -> None:
    rng = Random(seed)
    shape = tuple(rng.randint(4, 7) for _ in range(rng.randint(0, 3)))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    index = drawn_index(rng, shape)
    wanted = np.asarray(array[index])
    got = taken(array, index)
    assert got.shape == wanted.shape
    assert np.array_equal(got, wanted)


TYPES = (np.int8, np.int32, np.uint32, np.int64, np.uint64)


@pytest.mark.parametrize("held", TYPES)
@pytest.mark.parametrize("size", [3, 1 << 12, 1 << 31])
def test_sums_of_integer_products_are_exact_or_wrap(held: type, size: int) -> None:
    rng = np.random.default_rng(size)
    info = np.iinfo(held)
    a, b = (rng.integers(max(info.min, -size), min(info.max, size), shape, held)
            for shape in ((5, 1, 300), (1, 7, 300)))  # fmt: skip
    wide = np.uint64 if info.min == 0 else np.int64
    with np.errstate(over="ignore"):
        wanted = (a.astype(wide) * b.astype(wide)).sum(axis=2, keepdims=True, dtype=wide)
    assert np.array_equal(contraction(a, b, (5, 7, 300), (2,)).astype(wide), wanted)


@pytest.mark.parametrize("dtype", [I32, I64])
def test_integers_of_rounded_floats_keep_their_bounds(dtype: DType) -> None:
    rng = np.random.default_rng(1)
    kept = numpy_dtype(dtype)
    a, b = (rng.integers(-9, 9, shape).astype(kept) for shape in ((3, 1, 8), (1, 4, 8)))
    off = rng.integers(0, 2, a.shape).astype(float)
    arithmetic = BoundedArithmetic(exact=False)
    first = Bounded(np.ones((3, 4, 1), kept), np.full((3, 4, 1), 2.0))
    got = arithmetic.contract(first, Bounded(a, off), Bounded(b), (3, 4, 8), (2,), dtype, 8, dtype, OWN)
    product = Bounded(a * b, off * np.abs(b))
    wanted = arithmetic.reduce(Operator("+"), first, product, (2,), dtype, 8)
    assert np.array_equal(got.value, wanted.value)
    assert np.array_equal(np.broadcast_to(got.slack, got.value.shape), wanted.slack)


def test_floats_that_are_no_integers_keep_their_type() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((4, 1, 9)), rng.random((1, 5, 9))
    assert np.allclose(contraction(a, b, (4, 5, 9), (2,))[..., 0], a[:, 0] @ b[0].T, rtol=1e-15)
    # sums that leave the integers of a float type are not taken in it
    large = np.array([[2.0**24, 1.0]])
    assert contraction(large.reshape(1, 1, 2), np.ones((1, 1, 2)), (1, 1, 2), (2,)).item() == 2.0**24 + 1


INT8 = """#include <stdint.h>
void product(const int8_t A[48][40], const int8_t B[40][56], int32_t C[48][56]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 56; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 40; k++)
        sum += (int32_t)A[i][k] * (int32_t)B[k][j];
      C[i][j] = sum;
    }
}
"""


def test_a_product_of_integers_is_the_one_in_c_order() -> None:
    program = read_program(Source("p.c", INT8))
    rng = np.random.default_rng(3)
    arrays = {b.name: rng.integers(-128, 128, b.shape).astype(numpy_dtype(b.dtype)) for b in program.buffers}
    got = evaluate_bounded(program, arrays)["C"]
    assert got.bound is None
    assert np.array_equal(got.value, evaluate(program, arrays)["C"])


def test_pieces_hold_few_elements_along_the_axes_that_count() -> None:
    box = ((0, 4096), (0, 4096), (0, 4096))
    found = list(pieces(box, (0, 1), 1 << 22, held=((0, 1), (0, 2), (1, 2))))
    assert len(found) == 16
    assert sum((b - a) * (d - c) for (a, b), (c, d), _ in found) == 4096 * 4096
