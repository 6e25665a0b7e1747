"""Index arithmetic beyond int: exact in the last block, 64 bits in the terms that need them and no others."""

from random import Random

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.affine import Affine, from_expr
from mdh.ir.dtype import I32, I64
from mdh.ir.expr import Binary, Cast, Const, Expr, Var
from mdh.ir.kernel import For, Launch, Let, Module
from mdh.ir.ranges import Known, bounds
from mdh.ir.width import fit, sum_of
from mdh.lower.passes.width import widen_indices
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.offset import as_long
from tests.lower.walk import Walk

PROGRAMS = {
    "histogram": "void f(const int B[2147483640], int H[64])"
    " { for (int i = 0; i < 2147483640; i++) H[B[i]] += 1; }",
    "matmul": "void f(const float A[50000][50000], const float B[50000][50000], float C[50000][50000])"
    " { for (int i = 0; i < 50000; i++) for (int j = 0; j < 50000; j++) for (int k = 0; k < 50000; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }",
    "prefix_sum": "void f(const float A[2147483640], float S[2147483640])"
    " { S[0] = A[0]; for (int i = 1; i < 2147483640; i++) S[i] = S[i - 1] + A[i]; }",
    "dot": "void f(const float A[2147483647], const float B[2147483647], float r[1])"
    " { r[0] = 0; for (int i = 0; i < 2147483647; i++) r[0] += A[i] * B[i]; }",
    "rows": "void f(const float A[50000][60001], float r[1])"
    " { r[0] = 0; for (int i = 0; i < 50000; i++) for (int k = 0; k < 60001; k++) r[0] += A[i][k]; }",
    "argmax": "void f(const float A[50001][60000], int r[1], int c[1])"
    " { float m = -1e30f; r[0] = 0; c[0] = 0; for (int i = 0; i < 50001; i++)"
    " for (int j = 0; j < 60000; j++) if (A[i][j] > m) { m = A[i][j]; r[0] = i; c[0] = j; } }",
    "reversed": "void f(const float A[3000000000], float B[60000][50000])"
    " { for (int i = 0; i < 60000; i++) for (int j = 0; j < 50000; j++)"
    " B[i][j] = A[(59999 - i) * 50000 + (49999 - j)]; }",
    "gather": "void f(const int I[60000], const float A[60000][50000], float B[60000][50000])"
    " { for (int i = 0; i < 60000; i++) for (int j = 0; j < 50000; j++) B[i][j] = A[I[i]][j]; }",
    "stencil": "void f(const float A[46342][46342], float B[46342][46342])"
    " { for (int i = 1; i < 46341; i++) for (int j = 1; j < 46341; j++)"
    " B[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]; }",
}  # fmt: skip
MACHINES = [("h200", "cuda"), ("oclgrind", "opencl"), ("generic-cpu", "opencl")]


def lowered(text: str, machine: str, target: str) -> tuple[Module, str]:
    program = read_program(Source("f.c", text))
    model = load_machine(machine)
    default = default_schedule(program, model, target)
    module = lower(check(program, default, model, target, default=default))
    return module, emit(module, program).source


@pytest.mark.parametrize(("machine", "target"), MACHINES)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_no_index_overflows_and_none_leaves_its_array(name: str, machine: str, target: str) -> None:
    module, _ = lowered(PROGRAMS[name], machine, target)
    random = Random(name)
    for kernel in module.kernels:
        walks = [Walk(kernel, random, data=64, ends=n == 0) for n in range(20)]
        for walk in walks:
            walk.run()
        assert any(walk.touched for walk in walks)


def test_guard_of_the_last_block() -> None:
    _, text = lowered(PROGRAMS["histogram"], "h200", "cuda")
    assert "if ((long long)blk_i * 4067328 + (i_2 * 256 + thr_i) < 2147483640)\n" in text
    assert "atomicAdd(&H_SM[B[blk_i * 4067328 + i_2 * 256 + thr_i]], 1);" in text
    assert text.count("long long") == 1


def test_only_the_largest_term_of_an_offset_is_wide() -> None:
    _, text = lowered(PROGRAMS["matmul"], "h200", "cuda")
    assert "&A[(long long)blk_i * 3200000 + (c_A_round * 1600000 + tid / 4 * 50000 + " in " ".join(
        text.split()
    )
    assert "LL" not in text


def test_positions_beyond_int() -> None:
    _, text = lowered(PROGRAMS["argmax"], "generic-cpu", "opencl")
    assert "const long v_r_RM1 = (long)i_2 * 60000 + (blk_j * " in text


def test_small_sizes_stay_in_int() -> None:
    text = PROGRAMS["matmul"].replace("50000", "46336")
    assert "long" not in lowered(text, "h200", "cuda")[1]


def known(**names: int) -> Known:
    out = Known(Launch((1, 1, 1), (1, 1, 1)))
    for name, last in names.items():
        out = out.holding(name, (0, last))
    return out


def test_sums_are_exact_in_any_mixture() -> None:
    a = Affine.of({"x": 3, "y": -70000, "z": 70000}, -5)
    e = sum_of(a, known(x=2**31 - 1, y=60000, z=60000))
    assert from_expr(e) == a
    assert str(e).count("Cast") == 3


def test_conditions_around_a_definition_limit_it() -> None:
    point = Binary("+", Binary("*", Var("b"), Const(4096, I32), I32), Var("t"), I32)
    here = known(b=2**19, t=4095)
    assert bounds(point, here) == (0, 2**31 + 4095)
    inside = here.where(Binary("<", point, Const(2**31 - 8, I32), I32))
    assert bounds(point, inside) == (0, 2**31 - 9)
    assert fit(point, inside) == point and fit(point, here) != point


def test_constants_beyond_int() -> None:
    known = Known(Launch((1, 1, 1), (1, 1, 1)))
    for n in (2**31, -(2**31) - 1, 2**58):
        assert sum_of(Affine((), n), known) == Const(n, I64)
    assert sum_of(Affine((), 7), known) == Const(7, I32)


@pytest.mark.parametrize(("machine", "target"), MACHINES)
def test_a_product_of_the_largest_matrices(machine: str, target: str) -> None:
    size = 2**30 - 35
    a = f"float {{}}[{size}][{size}]"
    loops = "".join(f"for (int {i} = 0; {i} < {size}; {i}++) " for i in "ijk")
    arrays = ", ".join(a.format(n) for n in ("A", "B", "C"))
    _, text = lowered(f"void f({arrays}) {{ {loops}C[i][j] += A[i][k] * B[k][j]; }}", machine, target)
    assert str(size) in text


def test_counter_that_ends_past_int() -> None:
    loop = For("n", Const(0, I32), Const(2**31 - 1, I32), Const(528, I32), (Let("m", Var("n")),))
    (wide,) = widen_indices((loop,), Launch((1, 1, 1), (1, 1, 1)))
    assert isinstance(wide, For) and wide.stop.dtype.bits == 64
    (let,) = wide.body
    assert isinstance(let, Let) and let.dtype.bits == 64


def test_quotients_of_large_sums() -> None:
    e: Expr = Binary("/", Binary("+", Var("x"), Var("y"), I32), Const(8, I32), I32)
    wide = fit(e, known(x=2**31 - 1, y=9))
    assert isinstance(wide, Binary) and wide.dtype.bits == 64 and wide.left.dtype.bits == 64


def test_sums_of_subscripts_are_long_from_their_first_term() -> None:
    i, j = Var("i"), Var("j")
    rows = Binary("*", i, Const(8, I32), I32)
    first, second = as_long(Binary("+", rows, j, I32)), as_long(Binary("+", i, j, I32))
    assert first == Binary("+", Binary("*", Cast(i, I64), Const(8, I32), I64), j, I64)
    assert second == Binary("+", Cast(i, I64), j, I64)
    assert as_long(rows) == rows
    assert as_long(first) == first
