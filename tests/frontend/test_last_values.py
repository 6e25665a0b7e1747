"""A local that each iteration of a loop sets anew has the last one's value behind the loop."""

from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source
from mdh.verify.arguments import make_arrays
from tests.support.exact_interpreter import interpret
from tests.support.native import compiler, run_native

HEAD = "void f(float x[12], float y[12], float z[12], int k[12], const float *a, float *b)"
BODIES = (
    "float t; for (int i = 0; i < 9; i++) { t = x[i]; y[i] = t * 2; } z[0] = t;",
    "int t = 5; for (int i = 8; i > 0; i -= 3) { t = i * i; y[i] = t; } z[3] = t; z[4] = t - 1;",
    "float t = x[3]; y[0] = t; for (int i = 2; i < 9; i++) t = x[i] + y[i]; for (int i = 0; i < 12;"
    " i++) z[i] = t;",
    "int t; for (int i = 0; i < 9; i++) for (int j = 0; j < 3; j++) { t = i * j; y[i] += t; } z[0] = t;",
    "int t; for (int i = 0; i < 9; i++) { for (int j = 0; j < 3; j++) { t = i - j; y[i] += t; }"
    " z[i] = t; } k[1] = t;",
    "float s; for (int i = 0; i < 4; i++) { s = 0; for (int j = 0; j < 3; j++) s += x[3 * i + j]; y[i] = s; }"
    " z[0] = s;",
    "float t; for (int i = 0; i < 9; i++) { if (x[i] > 0) t = 1; else t = x[i]; y[i] = t; } z[0] = t * 3;",
    "float t, u; for (int i = 1; i < 9; i++) { t = x[i]; u = t + x[i - 1]; t = u * 2; y[i] = u; }"
    " z[0] = t; z[1] = u;",
    "float t; for (int i = 0; i < 9; i++) { y[i] = x[i] + 1; t = y[i]; } z[0] = t; y[8] = 3;",
    "float t; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) { t = a[i * 7 + j]; b[i * 7 + j] = t; }"
    " b[20] = t;",
    "int t; for (int i = 0; i < 9; i++) t = i; { for (int i = 2; i < 5; i++) y[i] = t; } if (x[0] >"
    " 0) z[0] = t;",
    "int t = 4; if (x[0] > 0) t = 7; for (int i = 0; i < 9; i++) { z[i] = t; } for (int i = 0; i <"
    " 3; i++) t = i;"
    " k[0] = t;",
    "uint8_t t; for (int i = 0; i < 9; i++) { t = i * 50; k[i] = t; } k[10] = t + 1;",
    "int i, j; for (i = 0; i < 9; i++) { for (j = 2; j < 7; j += 2) y[i] += x[j]; z[i] = j; } k[0] = i + j;",
    "int t; for (int i = 0; i < 12; i++) { t = k[i] & 7; y[i] = x[t]; } z[0] = x[t] + t;",
)


@pytest.mark.parametrize("body", BODIES)
def test_values_behind_loops(body: str, tmp_path: Path) -> None:
    source = Source("f.c", f"#include <stdint.h>\n{HEAD} {{ {body} }}")
    program = read_program(source)
    if compiler() is None:
        pytest.skip("no C compiler")
    for seed in (1, 2):
        arrays = make_arrays(program, {}, seed, "exact")
        want, got = run_native(source, program, tmp_path, {}, arrays), evaluate(program, arrays, {})
        assert program.syntax is not None
        judged = interpret(program.syntax, arrays, {})
        for name, array in want.items():
            np.testing.assert_array_equal(array, got[name], err_msg=name)
            np.testing.assert_array_equal(array, judged[name], err_msg=name)


@pytest.mark.parametrize(("body", "code"), [
    ("float t; for (int i = 0; i < 9; i++) { t = y[i]; y[i] = 2; } z[0] = t;", "C115"),
    ("int t = -1; for (int i = 0; i < 9; i++) if (x[i] > 0) t = i; k[0] = t;", "C150"),
    ("int t = 5; for (int i = 0; i < 9; i++) { y[i] = t; t = i; } z[0] = t;", "C150"),
])  # fmt: skip
def test_what_is_not_clear_is_refused(body: str, code: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"{HEAD} {{ {body} }}"))
    assert failed.value.diagnostics[0].code.startswith(code)
