"""Texts in Python: sizes from shapes, results that are allocated, names, tuning, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import mdh

MM = """def mm(float(M,K) A, float(K,N) B) -> (C) {
  C(m,n) +=! A(m,k) * B(k,n)
}
def 2x(float(N) a) -> (b, c) {
  b(i) = 2 * a(i)
  c(i) = a(i) + 1
}"""
LAYER = "Params M, K, N; Matrix A(M,K); Matrix B(K,N); Matrix V(1,N); C = RELU(A * B + V);"


def whole(*shape: int, seed: int = 3, kind: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(kind)


A, B = whole(5, 6), whole(6, 7, seed=4)


def test_a_call_binds_sizes_and_allocates_results() -> None:
    mm = mdh.tc(MM, device="c").mm
    assert (mm(A, B) == A @ B).all()
    assert (mm(B=B, A=A) == A @ B).all()
    assert (mm(A[:3].copy(), B) == A[:3] @ B).all()
    out = np.zeros((5, 7), np.float32)
    assert mm(A, B, out) is out and (out == A @ B).all()
    assert mm(5, 6, 7, A, B, out) is out


def test_results_that_begin_with_what_they_hold_are_given() -> None:
    add = mdh.tc("def add(float(N,M) A) -> (C) { C(i,j) += 2 * A(i,j) }", device="c").add
    out = whole(5, 6, seed=9)
    assert (add(A, out) == whole(5, 6, seed=9) + 2 * A).all()
    with pytest.raises(mdh.Failed) as failed:
        add(A)
    assert failed.value.diagnostics[0].code == "A101"


def test_several_results_and_names_that_python_has_not() -> None:
    functions = mdh.tc(MM, device="c")
    assert "mm" in dir(functions)
    b, c = functions["2x"](whole(9))
    assert (b == 2 * whole(9)).all() and (c == whole(9) + 1).all()
    with pytest.raises(AttributeError, match="it defines mm, 2x"):
        _ = functions.nn


def test_bound_sizes_may_be_left_out() -> None:
    source = mdh.Source("mm.tc", MM)
    kernel = mdh.compile(source, device="c", function="mm", defines={"M": 5, "K": 6, "N": 7})
    assert (kernel(A, B) == A @ B).all()
    run = kernel.bind(A, B)
    assert (run() == A @ B).all()


def test_diesel_and_c() -> None:
    v = whole(1, 7, seed=5)
    assert (mdh.diesel(LAYER, device="c")(A, B, v) == np.maximum(A @ B + v, 0)).all()
    text = """void scale(int n, float a, const float x[n], float y[n]) {
      for (int i = 0; i < n; i++) y[i] = a * x[i]; }"""
    y = np.zeros(4, np.float32)
    mdh.c(text, device="c").scale(a=3.0, x=whole(4), y=y)
    assert (y == 3 * whole(4)).all()


def test_byte_order_marks_and_line_ends_are_those_of_files() -> None:
    mark, v = "\ufeff", whole(1, 7, seed=5)
    assert (mdh.tc(mark + MM.replace("\n", "\r\n"), device="c").mm(A, B) == A @ B).all()
    assert (mdh.diesel(mark + LAYER, device="c")(A, B, v) == np.maximum(A @ B + v, 0)).all()
    y = np.zeros(4, np.float32)
    mdh.c(mark + "void f(float y[4]) { for (int i = 0; i < 4; i++) y[i] = i; }", device="c").f(y)
    assert (y == np.arange(4)).all()


def test_patterns_without_elements_are_refused() -> None:
    text = "def f(float(N,N) W, float(N) x) -> (y) { y(i) +=! W(i,k) * x(k) }"
    with pytest.raises(mdh.Failed, match="0 everywhere"):
        mdh.tc(text, device="c", patterns={"W": np.zeros((4, 4))}).f(whole(4))


@pytest.mark.parametrize("text", [
    "mk,kn->nm", "mk,kn", "mk,kn->", "km,kn->mn", "mk,mk->m", "ii->i", "ij->ji", "ij->", "...ij,...jk->...ik",
    "...i->...", "ij,jk,kl->il", "i,i",
])  # fmt: skip
@pytest.mark.parametrize("kind", ["float32", "float64", "int32"])
def test_einsum_is_numpys(text: str, kind: str) -> None:
    letters = text.partition("->")[0].replace("...", "xy").split(",")
    given = [
        whole(*(3 + "xyijklmn".index(c) % 3 for c in one), seed=n, kind=kind) for n, one in enumerate(letters)
    ]
    got, want = mdh.einsum(text, *given, device="c"), np.einsum(text, *given)
    assert got.shape == want.shape and got.dtype == want.dtype and (got == want).all()


def test_tuning_and_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    given = mdh.Source("s.mdh", "1: (de-)comp( 2, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )\n")
    kernel = mdh.tc(MM, schedule=given, device="c").mm
    assert (kernel(A, B) == A @ B).all()
    assert "BLK.x" in next(iter(kernel.variants.values())).schedule
    tuned = mdh.tc(MM, tune="10s", device="c").mm
    assert (tuned(A, B) == A @ B).all()


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no option `sizes`"):
        mdh.tc(MM, sizes={})
    for call, code in (
        (lambda: mdh.tc("def f(float(N) A) -> (B) { B(i) = A(i,i) }", device="c").f(A[0]), "T105"),
        (lambda: mdh.tc("def"), "T100"),
        (lambda: mdh.diesel("C = A;", device="c")(A), "L102"),
        (lambda: mdh.einsum("ij,jk->iz", A, B), "E101"),
        (lambda: mdh.einsum("ij,jk", A), "E100"),
        (lambda: mdh.einsum("ij,jk", A, B.astype("f8")), "A103"),
        (lambda: mdh.einsum("ij,jk", A, 3), "A102"),
        (lambda: mdh.tc(MM, device="c").mm(A, A), "A104"),
    ):
        with pytest.raises(mdh.Failed) as failed:
            call()
        assert failed.value.diagnostics[0].code == code


def test_open_size_of_an_einsum(tmp_path: Path) -> None:
    text = tmp_path / "mm.einsum"
    text.write_text("ij,jk->ik\n")
    mm = mdh.compile(str(text), defines={"I": mdh.open(1, 64), "j": 8, "k": 5}, device="c")
    rng = np.random.default_rng(0)
    b = rng.random((8, 5), np.float32)
    for rows in (1, 3, 64):
        a = rng.random((rows, 8), np.float32)
        assert np.allclose(mm(a, b), a @ b)
    with pytest.raises(mdh.Failed, match="C125"):
        mdh.compile(str(text), defines={"i": mdh.open(1, 64), "j": 8, "k": 5}, device="c")
    with pytest.raises(mdh.Failed, match="C105"):
        mdh.compile(str(text), defines={"I": 4, "i": 4, "j": 8, "k": 5}, device="c")
