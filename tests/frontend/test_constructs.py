"""Constructs of the C subset one by one: compared with the C compiler, or refused with a code at a place."""

from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import DimKind, Program
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.arrays import random_arrays
from tests.support.native import compiler, run_native

HEAD = "void f(float y[8], const float x[8], const float a[8][6], const int at[8], int h[4]) {\n"
COMPUTES = {
    "local declared outside": "float s; for (int i = 0; i < 8; i++) { s = 0;"
    " for (int k = 0; k < 6; k++) s += a[i][k]; y[i] = s; }",
    "locals outside two loops": "int i, j; float s, t = 0; for (i = 0; i < 8; i++) { t = x[i]; s = 1;"
    " for (j = 0; j < 6; j++) s += t * a[i][j]; y[i] = s + t; }",
    "index arithmetic": "for (int i = 0; i < 8; i++) h[at[i] & 3] += 1;",
    "gather": "for (int i = 0; i < 8; i++) y[i] = x[(at[i] >> 1) & 7];",
    "guarded halo": "for (int i = 0; i < 8; i++) y[i] = i > 0 && i < 7 ? x[i-1] + x[i+1] : x[i];",
    "either side": "for (int i = 0; i < 8; i++) y[i] = i == 0 || x[i-1] > 0;",
    "branches": "for (int i = 0; i < 8; i++) { if (i >= 1) y[i] = x[i-1]; else y[i] = 7; }",
    "negated": "for (int i = 0; i < 8; i++) y[i] = !(i < 2) ? x[i-2] : 0;",
    "best so far": "for (int i = 0; i < 8; i++) { y[i] = a[i][0];"
    " for (int k = 1; k < 6; k++) if (a[i][k] > y[i]) y[i] = a[i][k]; }",
    "prefix": "float s = 0; for (int i = 0; i < 8; i++) { s += x[i]; y[i] = s; }",
    "in place": "for (int i = 0; i < 8; i++) y[i] = y[i] * 2 + x[i];",
    "backwards": "for (int i = 7; i >= 0; i -= 2) y[i] = x[7 - i];",
    "pragma": "\n#pragma mdh( y[i] : ++, + )\nfor (int i = 0; i < 8; i++) { y[i] = 0;"
    " for (int k = 0; k < 6; k++) y[i] += a[i][k]; }",
    "scan pragma": "float s = 0;\n#pragma mdh( y[i] : ps(+) )\n"
    "for (int i = 0; i < 8; i++) { s += x[i]; y[i] = s; }",
    "local typedefs": "typedef int index; typedef index other;"
    " for (other i = 0; i < 8; i++) y[i] += (index)x[i];",
    "constant branch": "for (int i = 0; i < 8; i++) {"
    " if (8 < 4) y[i] = 1 / 0; else y[i] = 8 < 4 ? 1 << 40 : 2; }",
    "several updates": "for (int i = 0; i < 8; i++) for (int k = 0; k < 6; k++)"
    " { y[i] += a[i][k]; if (a[i][k] > 0) y[i] -= x[i]; }",
    "a loop variable as a condition": "for (int i = 0; i < 8; i++) y[i] = i ? x[i-1] : 3;",
    "scop": "\n#pragma scop\nfor (int i = 0; i < 8; i++) y[i] = x[i];\n#pragma endscop\n",
}


def _read(body: str) -> Program:
    return read_program(Source("input.c", f"{HEAD}{body}\n}}\n"))


@pytest.mark.parametrize("body", COMPUTES.values(), ids=COMPUTES.keys())
def test_computes_what_c_computes(body: str, tmp_path: Path) -> None:
    program = _read(body)
    if compiler() is None:
        pytest.skip("no C compiler here")
    arrays = random_arrays(program, 1, "exact", {"at": 8})
    source = Source("input.c", f"{HEAD}{body}\n}}\n")
    native = run_native(source, program, tmp_path, {}, arrays, {})
    want = evaluate(program, arrays, {})
    for name, array in native.items():
        np.testing.assert_array_equal(array, want[name], err_msg=name)


REFUSED = {
    "for (int i = 0; i < 8; i++) y[i] = x[i] > 0 ? x[i-1] : 0;": ("C140", 2, 47),
    "for (int i = 0; i < 8; i++) y[i] = i > 1 || x[i-1] > 0;": ("C140", 2, 45),
    "for (int i = 0; i < 8; i++) if (i > 1) y[i-3] = x[i];": ("C140", 2, 40),
    "for (int i = 0; i < 8; i++) y[i] = (unsigned)(i - 1) >= 7u ? x[i-1] : 0;": ("C140", 2, 62),
    "for (int i = 0; i < 8; i++) y[i] = i > 0 ? 0 : x[i-1];": ("C140", 2, 48),
    "for (int i = 0; i < 8; i++) { float t = y[i]; y[i] = x[i]; y[7-i] = t; }": ("C115", 2, 69),
    "y[0] = 1;\n#pragma mdh( y[i] : ++ )": ("C122", 3, 9),
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused_at_its_place(body: str) -> None:
    with pytest.raises(Failed) as failed:
        _read(body)
    first = failed.value.diagnostics[0]
    assert (first.code, first.labels[0].span.line, first.labels[0].span.column) == REFUSED[body]


def test_witness_is_an_iteration_that_leaves_the_array() -> None:
    with pytest.raises(Failed) as failed:
        _read("for (int i = 0; i < 8; i++) for (int j = 0; j < 6; j++) if (i != j) y[i] += x[i - j + 1];")
    witness = dict(failed.value.diagnostics[0].witness)
    point = witness["iteration"]
    assert point["i"] != point["j"]
    assert witness["index"] == point["i"] - point["j"] + 1
    assert not 0 <= witness["index"] < 8


def test_open_extent_reaches_as_far_as_the_accesses() -> None:
    text = "void f(float y[][6], const float x[][6]) { for (int i = 0; i < 5; i++) y[i][2] = x[2*i][3]; }"
    program = read_program(Source("input.c", text))
    assert {b.name: b.shape for b in program.buffers} == {"y": (5, 6), "x": (9, 6)}


def test_kinds_of_a_near_perfect_nest() -> None:
    stage = _read(COMPUTES["local declared outside"]).stages[0]
    assert [d.kind for d in stage.dims] == [DimKind.CC, DimKind.PW]
