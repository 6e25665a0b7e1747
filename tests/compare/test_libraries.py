"""Programs that libraries know, and what they compute of them, against the reference."""

import numpy as np
import pytest

from mdh.compare.library import NAMES, UnfitError, open_library
from mdh.decompose.contraction import contraction_of
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.reference import evaluate_bounded
from mdh.source import Source
from mdh.verify.arguments import guarded, make_arrays
from mdh.verify.verdict import judge
from tests.support.source_tree import ROOT

LOOPS = "for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) for (int k = 0; k < 7; k++)"
KNOWN = {
    "product": f"void f(const float A[5][7], const float B[7][6], float C[5][6]) {{ {LOOPS}"
    " C[i][j] += A[i][k] * B[k][j]; }",
    "both turned": f"void f(const double A[7][5], const double B[6][7], double C[6][5]) {{ {LOOPS}"
    " C[j][i] += A[k][i] * B[j][k]; }",
    "strided": f"void f(const float A[10][9], const float B[7][6], float C[5][6]) {{ {LOOPS}"
    " C[i][j] += A[2 * i][k + 1] * B[k][j]; }",
    "windows": f"void f(const float A[11], const float B[6][7], float C[5][6]) {{ {LOOPS}"
    " C[i][j] += A[i + k] * B[j][k]; }",
    "batch": "void f(const float A[3][5][7], const float B[3][7], float C[5][3]) {"
    " for (int b = 0; b < 3; b++) for (int i = 0; i < 5; i++) { C[i][b] = 0.0f;"
    " for (int k = 0; k < 7; k++) C[i][b] += A[b][i][k] * B[b][k]; } }",
    "dot": "void f(const float A[9], const float B[9], float C[1]) {"
    " for (int k = 0; k < 9; k++) C[0] += A[k] * B[k]; }",
}
UNKNOWN = {
    "it is no sum of products of two arrays": "C[i] += A[i][k];",
    "its arrays are not all float, or all double": "C[i] += A[i][k] * I[k];",
    "it is no sum": "C[i] = fmaxf(C[i], A[i][k] * B[k]);",
    "its loop `k` runs over one array alone": "C[i] += A[i][k] * D[i];",
}


def _program(text: str) -> Program:
    return read_program(Source("f.c", text))


@pytest.mark.parametrize("name", ["numpy", "mkl", pytest.param("torch", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", KNOWN)
@pytest.mark.parametrize("kind", ["exact", "random"])
def test_libraries_compute_what_the_program_means(name: str, case: str, kind: str) -> None:
    program = _program(KNOWN[case])
    what = contraction_of(program)
    assert not isinstance(what, str), what
    before = make_arrays(program, {}, 1, "exact" if kind == "exact" else "random")
    held = {n: guarded(a) for n, a in before.items()}
    try:
        bound = open_library(name, "cpu", "c").bind(what, {n: g.array for n, g in held.items()}, "cpu")
    except UnfitError as unfit:
        pytest.skip(str(unfit))
    bound.call()
    bound.fetch()
    assert judge(program, before, held, evaluate_bounded(program, before, {}, exact=kind == "exact")) == []


@pytest.mark.parametrize("why", UNKNOWN)
def test_what_is_no_product_says_why(why: str) -> None:
    args = "const float A[4][7], const float B[7], const int I[7], const float D[4], float C[4]"
    loops = "for (int i = 0; i < 4; i++) for (int k = 0; k < 7; k++)"
    assert contraction_of(_program(f"void f({args}) {{ {loops} {UNKNOWN[why]} }}")) == why


def test_shipped_programs_that_are_products() -> None:
    known = set()
    for path in sorted((ROOT / "inputs_c").glob("*.c")):
        program = read_program(Source(path.name, path.read_text(encoding="utf-8")))
        if not isinstance(contraction_of(program), str):
            known.add(path.stem)
    assert {"matmul", "matmul_t", "batched_matmul", "matvec", "dot", "conv2d", "ccsdt_1"} <= known
    assert not known & {"softmax", "jacobi2d", "transpose", "prefix_sum", "matmul_bias_relu", "matmul_half"}


def test_libraries_know_their_devices() -> None:
    for name in NAMES:
        with pytest.raises(UnfitError, match="another device"):
            open_library(name, "gpu" if name != "cublas" else "cpu", "opencl:1")
    with pytest.raises(UnfitError, match="torch computes on the CPU or an NVIDIA GPU by CUDA"):
        open_library("torch", "gpu", "opencl:0")


def test_sums_in_order_are_no_products() -> None:
    program = read_program(Source("f.c", KNOWN["product"]), strict_fp=True)
    assert isinstance(contraction_of(program), str)


def test_views_do_not_copy_a_plain_product() -> None:
    what = contraction_of(_program(KNOWN["product"]))
    assert not isinstance(what, str)
    arrays = {
        "A": np.ones((5, 7), np.float32),
        "B": np.ones((7, 6), np.float32),
        "C": np.ones((5, 6), np.float32),
    }
    bound = open_library("numpy", "cpu", "c").bind(what, arrays, "cpu")
    bound.call()
    assert bound.note == ""
    assert (arrays["C"] == 8).all()
