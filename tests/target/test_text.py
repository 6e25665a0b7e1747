"""Small texts in full, names, literals: what users read."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdh.hardware import Space
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U32, U64
from mdh.ir.expr import Binary, Const, Expr, Select, Unary, Var
from mdh.ir.kernel import Launch, Let, Store
from mdh.target.emit import emit
from mdh.target.literals import literal, rounded
from mdh.target.names import is_free, rename
from tests.target import features, modules
from tests.target.modules import c, dense, module, v

SAXPY = """extern "C" __global__ void __launch_bounds__(256)
saxpy_kernel(const float *__restrict__ x, float *__restrict__ y, float a)
{
    const int b = blockIdx.x;
    const int t = threadIdx.x;
    const int i = b * 256 + t;
    if (i < 1000)
        y[i] = a * x[i] + y[i];
}
"""

SAXPY_OPENCL = """__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void saxpy_kernel(__global const float *restrict x, __global float *restrict y, float a)
{
    const int b = get_group_id(0);
    const int t = get_local_id(0);
    const int i = b * 256 + t;
    if (i < 1000)
        y[i] = a * x[i] + y[i];
}
"""

TICKET = """extern "C" __global__ void __launch_bounds__(1)
ticket_kernel(int *__restrict__ y, int *flags)
{
    const int b = blockIdx.x;
    const int first = b == 0 ? 1 : 0;
    if (b > 0) {
        while (*(volatile const int *)&flags[b - 1] == 0) {}
        __threadfence();
        y[b] = y[b - 1] + 1U;
    } else {
        y[b] = first;
    }
    __threadfence();
    const int old = atomicAdd(&flags[b], 1);
}
"""


def test_saxpy() -> None:
    assert emit(*modules.saxpy("cuda")).source == SAXPY
    assert emit(*modules.saxpy("opencl")).source == SAXPY_OPENCL


def test_spinning_loads_are_volatile_and_unrestricted() -> None:
    text = emit(*features.ticket("cuda"))
    assert text.source == TICKET
    assert text.workspaces[0].zero


def test_emission_is_repeatable() -> None:
    a, b = (emit(*modules.matmul("cuda", engine="async", slots=2)) for _ in range(2))
    assert a == b
    assert a.digest == b.digest


def test_offsets_beyond_int_are_wide() -> None:
    source = emit(*features.huge("cuda")).source
    assert "x[(long long)t * 70001 + 4200000000LL] = 1;" in source


def test_no_line_is_longer_than_110() -> None:
    for target in ("cuda", "opencl"):
        source = emit(*modules.matmul(target, engine="async", slots=2)).source
        assert max(map(len, source.splitlines())) <= 110


def test_strict_fp_in_opencl() -> None:
    mod, program = modules.saxpy("opencl")
    source = emit(mod, dataclasses.replace(program, strict_fp=True)).source
    assert source.startswith("#pragma OPENCL FP_CONTRACT OFF\n")


def i32(op: str, a: Expr, b: Expr) -> Expr:
    return Binary(op, a, b, I32)


A, B, C = v("a"), v("b"), v("c_")


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (i32("-", A, i32("-", B, C)), "a - (b - c_)"),
        (i32("-", i32("-", A, B), C), "a - b - c_"),
        (i32("*", i32("+", A, B), C), "(a + b) * c_"),
        (i32("+", i32("*", A, B), C), "a * b + c_"),
        (i32("/", A, i32("*", B, C)), "a / (b * c_)"),
        (i32("||", i32("&&", A, B), C), "(a && b) || c_"),
        (i32("&", i32("+", A, B), C), "(a + b) & c_"),
        (i32("^", i32("^", A, B), C), "a ^ b ^ c_"),
        (Unary("-", Unary("-", A, I32), I32), "-(-a)"),
        (Unary("-", Const(-3, I32), I32), "-(-3)"),
        (Unary("!", i32("<", A, B), I32), "!(a < b)"),
        (i32("+", Select(A, B, C, I32), C), "(a ? b : c_) + c_"),
        (Select(A, B, Select(B, A, C, I32), I32), "a ? b : b ? a : c_"),
        (Select(Select(A, B, C, I32), B, C, I32), "(a ? b : c_) ? b : c_"),
        (Const(-(2**31), I32), "(-2147483647 - 1)"),
    ],
    ids=lambda e: e if isinstance(e, str) else "",
)
def test_parentheses(e: Expr, expected: str) -> None:
    y = dense("y", Space.DM, I32, 4)
    lets = tuple(Let(n, c(1)) for n in ("a", "b", "c_"))
    pair = module("f", "cuda", Launch((1, 1, 1), (1, 1, 1)), (y,), (*lets, Store("y", (c(0),), e)))
    assert f"y[0] = {expected};" in emit(*pair).source


def test_names() -> None:
    wanted = ["half", "half_", "kernel", "x", "float4", "atomic_add", "sqrt", "cuda_x", "global", "int8"]
    for language in ("cuda", "opencl"):
        renamed = rename(wanted, language, taken=("x",))
        assert len(set(renamed.values())) == len(wanted)
        assert all(is_free(n, language) for n in renamed.values())
        assert renamed["x"] == "x_"
        assert renamed["half_"] == "half_"
    assert rename(["kernel"], "cuda")["kernel"] == "kernel"
    assert rename(["cudaMalloc", "atomics"], "cuda") == {"cudaMalloc": "v_cudaMalloc", "atomics": "atomics"}


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0, F32, "0.0f"), (0.1, F32, "0.1f"), (1e-5, F32, "1e-05f"), (0.1, F64, "0.1"), (-0.0, F32, "-0.0f"),
        (math.inf, F32, "INFINITY"), (-math.inf, F64, "-INFINITY"), (math.nan, F32, "NAN"),
        (1e300, F32, "INFINITY"), (1 / 3, F16, "0.33325195f"), (1 / 3, BF16, "0.33398438f"),
        (16777217, F32, "16777216.0f"), (5, I8, "5"), (-1, U32, "4294967295U"),
        (2**64 - 1, U64, f"{2**64 - 1}ULL"),
        (-(2**63), I64, f"(-{2**63 - 1}LL - 1)"), (7, I64, "7LL"),
    ],
)  # fmt: skip
def test_literals(value: float, dtype: object, expected: str) -> None:
    assert literal(value, dtype, "LL") == expected  # type: ignore[arg-type]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_literals_read_back(value: float) -> None:
    assert rounded(float(literal(value, F32, "LL").rstrip("f")), F32) == value


def test_scalar_of_another_name_keeps_its_argument_name() -> None:
    text = emit(*features.names("cuda"))
    assert [a.name for a in text.kernels[0].args] == ["float4", "half"]
    assert Var("half", F32).name not in text.source.replace("half_", "")
