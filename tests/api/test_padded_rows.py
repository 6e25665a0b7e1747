"""Rows of plain pointers with more columns than the loops take: which arrays a call accepts."""

from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.source import Source
from tests.support.native import compiler

TEXT = """void f(int LD, const float *A, float *B)
{
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 7; j++)
            B[i * 16 + j] = A[i * LD + j] + A[i * LD + j + LD];
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> mdh.Kernel:
    if compiler() is None:
        pytest.skip("no C compiler")
    (tmp_path / "f.c").write_text(TEXT, encoding="utf-8")
    return mdh.compile(str(tmp_path / "f.c"), device="c")


def test_the_shape_has_whole_rows_and_its_reach_ends_at_the_last_access() -> None:
    a, b = read_program(Source("f.c", TEXT), defines={"LD": 20}).buffers
    assert (a.shape, a.reach) == ((11, 20), 207)
    assert (b.shape, b.reach) == ((10, 16), 151)


@pytest.mark.parametrize("shape", [(11, 20), (220,), (15, 20), (300,), (207,), (219,)])
@pytest.mark.parametrize("out", [(10, 16), (160,), (12, 16), (500,)])
def test_arrays_of_the_caller(kernel: mdh.Kernel, shape: tuple[int, ...], out: tuple[int, ...]) -> None:
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    b = np.full(out, -1, np.float32)
    kernel(20, a, b)
    flat, want = a.reshape(-1), np.full(b.size, -1, np.float32)
    for i in range(10):
        for j in range(7):
            want[i * 16 + j] = flat[i * 20 + j] + flat[i * 20 + j + 20]
    assert (b.reshape(-1) == want).all()


@pytest.mark.parametrize(("shape", "out"), [((206,), (160,)), ((20, 11), (160,)), ((11, 20), (151,)),
                                            ((11, 21), (160,)), ((11, 20), (10, 15))])  # fmt: skip
def test_arrays_that_are_too_short(kernel: mdh.Kernel, shape: tuple[int, ...], out: tuple[int, ...]) -> None:
    with pytest.raises(Failed) as failed:
        kernel(20, np.zeros(shape, np.float32), np.zeros(out, np.float32))
    assert [d.code for d in failed.value.diagnostics] == ["A104"]
