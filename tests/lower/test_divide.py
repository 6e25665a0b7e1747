"""Division by what a loop does not change: exact but for tiny quotients, and only where it is safe."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Barrier, Buf, For, If, Let, Stmt, Store, Wait, While
from mdh.lower.passes.divide import SCALES, divide_by_reciprocals
from mdh.target.operators import quotient
from tests.support.native import compiler

PAIRS = 400_000
X, Y, V = (Buf(n, Space.DM, F32, (64,), (1,)) for n in "XYV")
OUTER, J = Var("i"), Var("j")


def loop(var: str, count: int, *body: Stmt) -> For:
    return For(var, Const(0, I32), Const(count, I32), Const(1, I32), body)


def over(divisor: Expr, at: Expr = J) -> Store:
    return Store("Y", (at,), Binary("/", Load("X", (at,), F32), divisor, F32))


def passed(*body: Stmt) -> tuple[Stmt, ...]:
    return divide_by_reciprocals(body, {b.name: b for b in (X, Y, V)}, {"i", "j"})


def test_the_reciprocal_stands_in_front_of_the_loop() -> None:
    *lets, done = passed(loop("j", 8, over(Load("V", (Const(3, I32),), F32))))
    assert [let.name for let in lets if isinstance(let, Let)] == ["divisor", "scale", "scaled", "reciprocal"]
    assert isinstance(done, For)
    assert isinstance(done.body[0], Store)
    assert isinstance(done.body[0].value, Call)
    assert done.body[0].value.fn == Intrinsic.DIVIDED


def test_it_stands_inside_of_the_loop_that_changes_it() -> None:
    (outer,) = passed(loop("i", 8, loop("j", 8, over(Load("V", (OUTER,), F32)))))
    assert isinstance(outer, For)
    assert [type(s) for s in outer.body] == [Let, Let, Let, Let, For]


@pytest.mark.parametrize(
    "body",
    [
        (loop("j", 3, over(Load("V", (Const(3, I32),), F32))),),  # too few to pay
        (loop("j", 8, over(Load("V", (J,), F32))),),  # another one in each iteration
        (loop("j", 8, over(Load("Y", (Const(3, I32),), F32))),),  # the loop writes it
        (loop("j", 8, over(Const(3.0, F32))),),  # compilers know how
        (loop("j", 8, If(Binary("<", J, Const(4, I32), I32), (over(Load("V", (Const(70, I32),), F32)),))),),
        (loop("j", 8, Let("v", Load("V", (J,), F32), F32), over(Var("v", F32))),),
    ],
)  # fmt: skip
def test_other_divisions_stay(body: tuple[Stmt, ...]) -> None:
    assert passed(*body) == body


@pytest.mark.parametrize("wait", [Barrier(), Wait(0), While(Const(0, I32), ())])
def test_what_others_write_is_read_after_the_loop_has_waited(wait: Stmt) -> None:
    body = (loop("j", 8, wait, over(Load("V", (Const(3, I32),), F32))),)
    assert passed(*body) == body


def test_a_register_may_be_asked_for_before_a_condition_is() -> None:
    held = Alloc(Buf("r", Space.RM, F32, (), ()))
    branch = If(Binary("<", J, Const(4, I32), I32), (over(Load("r", (), F32)),))
    assert len(passed(held, loop("j", 8, branch))) == 6


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize(("name", "bits"), [("f32", 32), ("f64", 64)])
def test_quotients_are_those_of_a_division(name: str, bits: int, tmp_path: Path) -> None:
    """Of any two numbers: all exponents, zeros, infinities, NaN and subnormal numbers."""
    dtype = np.dtype(f"float{bits}").type
    rng = np.random.default_rng(bits)
    x, y = (rng.integers(0, 1 << bits, PAIRS, dtype=f"uint{bits}").view(dtype) for _ in range(2))
    near = rng.uniform(-4, 4, (2, PAIRS)).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 3.0, 49.0, 5e-324, 2.0**-126, 1e38], dtype)
    grid = np.array(np.meshgrid(special, special)).reshape(2, -1)
    with np.errstate(all="ignore"):
        largest = y * np.finfo(dtype).max
    pairs = (x, y), near, (near[0], y), (largest, y), grid
    x, y = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    got = divided(name, x, y, tmp_path)
    with np.errstate(all="ignore"):
        want = x / y
        exact = np.abs(x) >= dtype(1 / SCALES[F32][0] if bits == 32 else 2.0**-960)
        last = np.maximum(np.spacing(np.abs(want)), np.finfo(dtype).smallest_subnormal)
        same = (got == want) & (np.signbit(got) == np.signbit(want)) | (np.isnan(got) & np.isnan(want))
        near_enough = np.abs(got - want) <= last
    assert np.all(same | (~exact | (np.abs(want) < np.finfo(dtype).tiny)) & near_enough)
    assert np.all((np.signbit(got) == np.signbit(want)) | np.isnan(want))


def divided(name: str, x: np.ndarray, y: np.ndarray, folder: Path) -> np.ndarray:
    """Quotients by the text that kernels have."""
    kind, one = ("float", "fabsf") if name == "f32" else ("double", "fabs")
    most, factor = SCALES[F32] if name == "f32" else (2.0**1000, 2.0**512)
    (folder / "q.c").write_text(
        f"""#include <math.h>
{quotient(f"divided_{name}", "static")}
void over(long n, const {kind} *x, const {kind} *y, {kind} *out)
{{
    for (long i = 0; i < n; ++i) {{
        {kind} s = {one}(y[i]) < ({kind}){(1 / most).hex()} ? ({kind}){factor.hex()}
            : {one}(y[i]) < 1 ? 2 : {one}(y[i]) > ({kind}){most.hex()} ? ({kind}){(1 / factor).hex()} : 1;
        out[i] = divided_{name}(x[i], y[i] * s, 1 / (y[i] * s), s);
    }}
}}
""",
        encoding="utf-8",
    )
    built = folder / "q.so"
    command = [
        str(compiler()),
        "-O2",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        "-o",
        built,
        folder / "q.c",
        "-lm",
    ]
    subprocess.run(command, check=True)
    out = np.empty_like(x)
    places = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, out)]
    ctypes.CDLL(str(built)).over(ctypes.c_long(len(x)), *places)
    return out
