"""Programs as people write them: comparisons, writes and subscripts are about the array that is written."""

from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.arrays import random_arrays
from tests.support.native import compiler, run_native

PATHS = """void f(int d[7][7], int next[7][7]) {
  for (int k = 0; k < 7; k++) for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++)
    if (d[i][k] + d[k][j] < d[i][j]) { BODY }
}"""
CHAIN = """void f(const int p[8], int m[7][7], int s[7][7]) {
  for (int i = 0; i < 7; i++) m[i][i] = 0;
  for (int l = 1; l < 7; l++) for (int i = 0; i < 7 - l; i++) {
    int j = i + l;
    m[i][j] = 1000000;
    for (int k = i; k < j; k++) {
      int q = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1];
      if (q < m[i][j]) { m[i][j] = q; s[i][j] = k; }
    }
  }
}"""
STEPS = """void f(const float w[6][6], float v[5][6], int from[5][6]) {
  for (int t = 1; t < 5; t++) for (int s = 0; s < 6; s++) {
    v[t][s] = -1000;
    for (int p = 0; p < 6; p++)
      if (v[t - 1][p] + w[p][s] >= v[t][s]) { v[t][s] = v[t - 1][p] + w[p][s]; from[t][s] = p; }
  }
}"""
MEANS = """void f(const float x[20], float c[3], int label[20]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 20; i++) {
      float best = 1000;
      for (int k = 0; k < 3; k++) {
        float far = (x[i] - c[k]) * (x[i] - c[k]);
        if (far < best) { best = far; label[i] = k; }
      }
    }
    float sum[3] = {0};
    int count[3] = {0};
    for (int i = 0; i < 20; i++) { sum[label[i]] += x[i]; count[label[i]]++; }
    for (int k = 0; k < 3; k++) if (count[k] > 0) c[k] = sum[k] / count[k];
  }
}"""
ROWS = """void f(const float x[9][4], float y[9], int n[9]) {
  for (int i = 0; i < 9; i++) {
    int seen[4] = {0};
    const float ends[2] = {x[i][0], x[i][3]};
    for (int k = 0; k < 4; k++) seen[(int)x[i][k] & 3]++;
    n[i] = 0;
    for (int k = 0; k < 4; k++) if (seen[k] > n[i]) n[i] = seen[k];
    y[i] = ends[0] - ends[1];
  }
  for (int i = 0; i < 9; i++) {
    float seen[2][2];
    seen[0][0] = y[i]; seen[0][1] = 1; seen[1][0] = n[i]; seen[1][1] = 2;
    y[i] = 0;
    for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) y[i] += seen[a][b] * seen[b][a];
  }
}"""
TEXTS = {
    "paths": PATHS.replace("BODY", "d[i][j] = d[i][k] + d[k][j];"),
    "paths and what lies on them": PATHS.replace(
        "BODY", "d[i][j] = d[i][k] + d[k][j]; next[i][j] = next[i][k];"
    ),
    "paths and their last stop": PATHS.replace("BODY", "next[i][j] = k; d[i][j] = d[i][k] + d[k][j];"),
    "chains of products": CHAIN,
    "steps": STEPS,
    "means": MEANS,
    "rows": ROWS,
    "differences": """void f(const int x[6], int z[6]) {
  for (int i = 0; i < 6; i++) for (int j = 0; j <= i; j++) if (j > 2) z[i - j] += x[j];
}""",
    "a pointer": """void f(const int *x, int *z) {
  for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) if (j < 4) z[i * 4 + j] = x[i * 5 + j];
}""",
    "the first turn": """void f(const float a[4][6], float y[6]) {
  float x[6];
  for (int t = 0; t < 4; t++) for (int i = 0; i < 6; i++)
    if (t == 0 || i > 0) x[i] = t == 0 ? a[0][i] : x[i] * 0.5f + a[t][i];
  for (int i = 0; i < 6; i++) y[i] = x[i];
}""",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_means_what_c_means(name: str, tmp_path: Path) -> None:
    source = Source("input.c", TEXTS[name])
    program = read_program(source)
    if compiler() is None:
        pytest.skip("no C compiler here")
    arrays = random_arrays(program, 3, "exact", {})
    native = run_native(source, program, tmp_path, {}, arrays, {})
    got = evaluate(program, arrays, {})
    for array, want in native.items():
        np.testing.assert_allclose(got[array], want, rtol=1e-6, err_msg=array)


def test_paths_run_in_turns_of_the_outermost_loop() -> None:
    for name in ("paths", "paths and what lies on them"):
        program = read_program(Source("input.c", TEXTS[name]))
        assert [x.name for x in program.loops] == ["k"]
        assert all([d.extent for d in s.dims] == [7, 7] for s in program.stages)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("float p; for (int i = 0; i < 8; i++) { y[i] = p; p = x[i]; }", "C115"),
        ("float t[8]; for (int i = 0; i < 8; i++) { y[i] = t[7 - i]; t[i] = x[i]; }", "C115"),
        ("for (int i = 0; i < 8; i++) { float t[2]; t[0] = x[i]; y[i] = t[0][0]; }", "C116"),
        ("for (int i = 0; i < 8; i++) { float t[2]; t[0] = x[i]; y[i] = t[0]; } y[0] = t[0];", "C111"),
        ("for (int i = 0; i < 8; i++) { float t[2]; if (i > 0) t[0] = x[i]; y[i] = t[0]; }", "C115"),
        ("for (int i = 0; i < 8; i++) { float x[2]; y[i] = 1; }", "C113"),
        ("for (int i = 0; i < 8; i++) if (i > 1) y[i - 3] = x[i];", "C140"),
        ("for (int i = 1; i < 8; i++) if (y[i - 1] + x[i] > y[i]) y[i] = y[i - 1] + x[i];", "C150"),
    ],
)  # fmt: skip
def test_refused(body: str, code: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("input.c", f"void f(float y[8], const float x[8]) {{ {body} }}"))
    assert [d.code for d in failed.value.diagnostics] == [code]
