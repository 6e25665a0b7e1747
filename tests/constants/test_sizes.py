"""Sizes that the shapes of constants say, in every language, from Python and from the command line."""

from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.cli.main import run
from mdh.frontend.constant_arrays import constant_text
from mdh.frontend.constant_sizes import sizes_of_constants
from mdh.source import Source
from tests.constants.random_constants import case

C_TEXT = """
void f(int J, int K, const float A[K][40], const float C[J][K], float O[J][40]) {
  for (int n = 0; n < 40; n++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++)
        O[j][n] += C[j][k] * A[k][n];
}
"""
MACROS = """
void f(const float A[K][40], const float C[J][K], float O[J][40]) {
  for (int n = 0; n < 40; n++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++)
        O[j][n] += C[j][k] * A[k][n];
}
"""
TC_TEXT = "def f(float(K,40) A, const float(J,K) C) -> (O) { O(j,n) +=! C(j,k) * A(k,n) }\n"
DIESEL_TEXT = "Params J, K, N;\nMatrix C(J,K);\nMatrix A(K,N);\nO = C * A;\nCodeGen(FLOAT, {O});\n"
TEXTS = {"f.c": C_TEXT, "macros.c": MACROS, "f.tc": TC_TEXT, "f.diesel": DIESEL_TEXT}


@pytest.mark.parametrize("option", ["--const", "--const-pattern"])
@pytest.mark.parametrize("name", TEXTS)
def test_command_line(name: str, option: str, tmp_path: Path) -> None:
    if name == "f.tc" and option == "--const-pattern":
        (tmp_path / name).write_text(TC_TEXT.replace("const ", ""))
    else:
        (tmp_path / name).write_text(TEXTS[name])
    np.save(tmp_path / "C.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    more = ["-D", "N=40"] if name == "f.diesel" else []
    out = tmp_path / "out"
    given = [str(tmp_path / name), option, f"C={tmp_path / 'C.npy'}", *more, "--device", "c", "-o", str(out)]
    assert run(["compile", *given]) == 0
    # the folder has the sizes that its C needs
    assert ("#define J 3" in (out / "reference.c").read_text()) == (name == "macros.c")


def test_python() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    some = np.random.default_rng(1).random((4, 40), dtype=np.float32)
    kernel = mdh.compile(Source("f.c", C_TEXT), constants={"C": array}, device="c")
    out = np.zeros((3, 40), np.float32)
    np.testing.assert_allclose(kernel(some, out), array @ some, rtol=1e-5)
    out[:] = 0
    np.testing.assert_allclose(kernel(3, 4, some, out), array @ some, rtol=1e-5)
    with pytest.raises(mdh.Failed, match="A110"):
        kernel(3, 5, some, out)


@pytest.mark.parametrize("seed", range(20))
def test_random_sizes(seed: int) -> None:
    one = case(f"sizes {seed}")
    defines = {"C": constant_text(one.array, pattern=seed % 2 == 1)}
    source = Source("f.c", f"#include <stdint.h>\n{one.sized}")
    assert sizes_of_constants(source, defines, None) == one.sizes
    first = dict(list(one.sizes.items())[:1])
    left = {n: v for n, v in one.sizes.items() if n not in first}
    assert sizes_of_constants(source, {**defines, **first}, None) == left


ENUMERATED = """
enum { N = 3, M = N + 1 };
static const float w[N][M - 2] = {{1, 2}, {3, 0}, {5, 6}};
void f(const float x[M - 2], float y[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < M - 2; j++)
      y[i] += w[i][j] * x[j];
  }
}
"""


def test_extents_of_constants_may_be_those_of_an_enumeration() -> None:
    y = mdh.c(ENUMERATED).f(np.array([2, 3], np.float32), np.empty(3, np.float32))
    assert y.tolist() == [8, 6, 28]


PRODUCT = "def g(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }\n"


@pytest.mark.parametrize("machine", ["h100", "generic-cpu"])
@pytest.mark.parametrize("rows", [1, 2, 9, 17, 64])
def test_a_packed_factor_of_a_product(rows: int, machine: str) -> None:
    pattern = (np.arange(5 * 33) % 3 > 0).reshape(5, 33)
    mdh.check(Source("g.tc", PRODUCT), machine=machine, defines={"M": rows}, patterns={"B": pattern})


def test_extents_of_an_enumeration_are_no_sizes() -> None:
    text = "enum { P = 2 };\nvoid f(const float w[P], const float x[N], float y[N]) {\n" + (
        "  for (int i = 0; i < N; i++)\n    for (int a = 0; a < P; a++) y[i] += x[i] * w[a];\n}\n"
    )
    y = np.zeros(3, np.float32)
    given = {"w": np.array([2, 3], np.float32)}
    mdh.compile(Source("f.c", text), device="c", defines={"N": 3}, constants=given)(np.ones(3, np.float32), y)
    assert y.tolist() == [5, 5, 5]


LARGEST = """
void f(const float w[2][1], const float x[5][1], float y[5][2]) {
  for (int i = 0; i < 5; i++)
    for (int a = 0; a < 2; a++) {
      y[i][a] = -100;
      for (int b = 0; b < 1; b++)
        y[i][a] = y[i][a] > w[a][b] * x[i][b] ? y[i][a] : w[a][b] * x[i][b];
    }
}
"""


def test_a_maximum_over_one_column_of_a_constant() -> None:
    given = {"w": np.array([[2], [3]], np.float32)}
    x, y = np.arange(5, dtype=np.float32).reshape(5, 1), np.empty((5, 2), np.float32)
    mdh.compile(Source("f.c", LARGEST), device="c", constants=given)(x, y)
    assert (y == x * np.array([2, 3], np.float32)).all()
