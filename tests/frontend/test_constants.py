"""Constants of the headers, enumerations, tables of initial values and the words around declarations."""

from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.header_constants import CONSTANTS
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.reference.numbers import numpy_dtype
from mdh.source import Source
from mdh.verify.arguments import make_arrays
from tests.support.exact_interpreter import interpret
from tests.support.native import compiler, run_native

HEAD = (
    "#include <limits.h>\n#include <stdint.h>\n#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n"
)


def compare(text: str, folder: Path) -> None:
    source = Source("f.c", text)
    program = read_program(source)
    assert program.syntax is not None
    if compiler() is None:
        pytest.skip("no C compiler")
    arrays = make_arrays(program, {}, 1, "exact")
    want, got = run_native(source, program, folder, {}, arrays), evaluate(program, arrays, {})
    judged = interpret(program.syntax, arrays, {})
    for name, array in want.items():
        np.testing.assert_array_equal(array, got[name], err_msg=name)
        np.testing.assert_array_equal(array, judged[name], err_msg=name)


def test_header_constants_have_the_compiler_s_values_and_types(tmp_path: Path) -> None:
    integers = [n for n, (_, t) in CONSTANTS.items() if not t.is_float]
    floats = [n for n, (v, t) in CONSTANTS.items() if t.is_float and abs(v) < np.inf]
    lines = [f"  w[{k}] = {n}; u[{k}] = ({n} * 0 - 1) / 2; v[{k}] = ({n} * 0 + 1) << 31;"
             for k, n in enumerate(integers)]  # fmt: skip
    lines += [f"  y[{k}] = {n}; z[{k}] = ({n} * 0 + 1) / 3;" for k, n in enumerate(floats)]
    a, b = len(integers), len(floats)
    head = f"void f(int64_t w[{a}], double u[{a}], int64_t v[{a}], double y[{b}], double z[{b}])"
    compare("\n".join([f"{HEAD}{head} {{", *lines, "}"]), tmp_path)


FOR_I, FOR_J = "for (int i = 0; i < N; i++)", "for (int j = 0; j < L; j++)"
L = "#define L 13\n"
DECLARATIONS = (
    f"enum {{ N = 4, M, K = N * 3, L }};\nvoid f(int y[N][L]) {{ {FOR_I} {FOR_J} y[i][j] = M * i + K; }}",
    f"void f(int y[9]) {{ enum {{ N = 4, M = -7, K }}; {FOR_I} y[i] = M / 2 + K + i; }}",
    f"typedef enum {{ N = 4, L = 13 }} size;\nvoid f(int y[N][L]) {{ {FOR_I} {FOR_J} y[i][j] = i; }}",
    f"{L}static const float w[3] = {{1, 2.5, 1}};\nvoid f(const float x[15], float y[L])"
    f" {{ {FOR_J} for (int k = 0; k < 3; k++) y[j] += w[k] * x[j + k]; }}",
    f"{L}void f(const float x[17], float y[L]) {{ static const int w[][2] = {{{{1, 2}}, {{3}}, 5, 6}};"
    f" {FOR_J} for (int a = 0; a < 3; a++) for (int b = 0; b < 2; b++) y[j] += w[a][b] * x[j + a + b]; }}",
    f"{L}void f(float y[L]) {{ float w[13] = {{4, 5, 6}};"
    f" {FOR_J} {{ float w[2] = {{j, 3}}; y[j] = w[0] * w[1]; }} {FOR_J} y[j] -= w[j]; }}",
    "const double e[2][3] = {{.5, 1}, {2, 3, 4}}, s = 2.25;\nvoid f(double y[6]) { for (int i = 5; i > 0;"
    " i -= 3) for (int k = 0; k < 3; k++) y[i - k] = e[1][k] * s + e[0][2 - k] - e[1][2]; }",
    f"{L}static const uint8_t t[5] = {{250, 251, 300, -1}};\nvoid f(const int x[L], int y[L])"
    f" {{ {FOR_J} y[j] = t[x[j] & 3] - t[2]; }}",
    f"{L}__attribute__((noinline)) void f(float *__restrict__ const y, float const *restrict x)"
    f" {{ register int k = 3; for (register int j = 0; j < L; j++) y[j] = x[j] * k; }}",
    "static const float w[3] = {1, 2, 3};\nvoid f(float y[3], const float w[3])"
    " { for (int i = 0; i < 3; i++) y[i] = w[i]; }",
    "static const float w[3] = {1, 2, 3};\nvoid f(float y[3], float z[3]) { z[0] = w[1]; { float w = 7;"
    " y[0] = w; } for (int i = 0; i < 3; i++) { float w[2] = {i, 4}; y[i] = w[0] + w[1]; } z[1] = w[2]; }",
    f"{L}void f(float y[const restrict static L]) {{ const int static c = 3; int const d = c * 2;"
    f" {FOR_J} y[j] = d; }}",
)


@pytest.mark.parametrize("text", DECLARATIONS)
def test_declarations_mean_what_the_compiler_says(text: str, tmp_path: Path) -> None:
    compare(f"#include <stdint.h>\n{text}", tmp_path)


def test_functions_may_be_static_and_inline() -> None:
    words = ("static inline", "static __inline__ __attribute__((always_inline))", "inline")
    for word in words:
        read_program(Source("f.c", f"{word} void f(float y[8]) {{ y[0] = 1; }}"))


@pytest.mark.parametrize(("text", "code"), [
    ("void f(volatile float y[8]) { y[0] = 1; }", "C113"),
    ("void f(float y[8]) { static int k = 1; y[0] = k; }", "C113"),
    ("void f(float y[8]) { extern int k; y[0] = k; }", "C113"),
    ("typedef int v4 __attribute__((vector_size(16)));\nvoid f(float y[8]) { y[0] = 1; }", "C113"),
    ("const int w[2] = {1, 2, 3};\nvoid f(float y[8]) { y[0] = w[1]; }", "C117"),
    ("const int w[70000] = {1};\nvoid f(float y[8]) { y[0] = w[1]; }", "C113"),
    ("void f(float y[300]) { for (int i = 0; i < 300; i++) { float w[300] = {i}; y[i] = w[i]; } }", "C113"),
    ("const int w[3] = {[1] = 4};\nvoid f(float y[8]) { y[0] = w[1]; }", "C113"),
    ("const int w[3] = {1, 2, 3};\nvoid f(float y[8]) { for (int i = 0; i < 4; i++) y[i] = w[i]; }", "C140"),
    ("const int w[3] = {1, 2, 3};\nvoid f(float y[8]) { y[0] = w[3]; }", "C140"),
    ("const int w[3] = {1, 2, 3};\nvoid f(float y[8]) { w[0] = 2; y[0] = w[1]; }", "C118"),
    ("int w[3] = {1, 2, 3};\nvoid f(float y[8]) { y[0] = w[1]; }", "C113"),
    ("void f(float y[8]) { int w[2] = {1, 2}; w[0]++; y[0] = w[1]; }", "C113"),
    ("void f(float y[8]) { const float w[2] = {y[1], 2}; y[0] = w[1]; }", "C113"),
])  # fmt: skip
def test_declarations_that_are_refused(text: str, code: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text))
    assert failed.value.diagnostics[0].code == code


def test_numpy_types_of_the_constants() -> None:
    for name, (value, t) in CONSTANTS.items():
        assert t.is_float or np.array(value, numpy_dtype(t)) == value, name
