"""Branches, flags and prefix sums in the words people use: stages and values, against numpy alone."""

from collections.abc import Callable

import numpy as np
import pytest

import mdh
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.arrays import Arrays, random_arrays

HEAD = "void f(float y[8], float z[8], int h[8], float S[8][6], const float x[8], const float a[8][6]) {\n"
I = "for (int i = 0; i < 8; i++) "  # noqa: E741
J = "for (int j = 0; j < 6; j++) "
Meaning = Callable[[Arrays], Arrays]

CASES: dict[str, tuple[str, Meaning]] = {
    "both sides of a local": (
        f"{I}{J}{{ float v; if (a[i][j] > 0) v = a[i][j]; else v = -a[i][j]*2; y[i] += v; }}",
        lambda m: {"y": m["y"] + np.where(m["a"] > 0, m["a"], -2 * m["a"]).sum(1)},
    ),
    "else if": (
        f"{I}{{ float v; if (x[i] > 1) v = 3;"
        " else if (x[i] > 0) { v = 2; v = v * x[i]; } else v = 1; y[i] = v; }",
        lambda m: {"y": np.where(m["x"] > 1, 3, np.where(m["x"] > 0, 2 * m["x"], 1))},
    ),
    "no else": (
        f"{I}{{ float v = x[i]; if (v < 0) {{ v = -v; if (v > 2) v = 2; }} y[i] = v; }}",
        lambda m: {"y": np.where(m["x"] < 0, np.minimum(-m["x"], 2), m["x"])},
    ),
    "declared outside": (
        f"float v, w; {I}{{ if (x[i] > 0) {{ w = x[i]; v = w + 1; }} else v = 7; y[i] = v; }}",
        lambda m: {"y": np.where(m["x"] > 0, m["x"] + 1, 7)},
    ),
    "outputs": (
        f"{I}{{ if (x[i] > 0) {{ y[i] = x[i]; z[i] = 1; }} else {{ z[i] = 2; y[i] = 0; }} }}",
        lambda m: {"y": np.where(m["x"] > 0, m["x"], 0), "z": np.where(m["x"] > 0, 1, 2)},
    ),
    "the condition is overwritten": (
        f"{I}if (y[i] > 0) y[i] = 0; else y[i] = 1;",
        lambda m: {"y": np.where(m["y"] > 0, 0, 1)},
    ),
    "counted up and down": (
        f"{I}{J}if (a[i][j] > 0) h[i] += 1; else h[i] -= 1;",
        lambda m: {"h": m["h"] + np.where(m["a"] > 0, 1, -1).sum(1)},
    ),
    "two sums": (
        f"{I}{J}if (a[i][j] > 0) {{ h[i]++; y[i] += a[i][j]; }} else {{ y[i] += 0.5f; h[i]--; }}",
        lambda m: {
            "h": m["h"] + np.where(m["a"] > 0, 1, -1).sum(1),
            "y": m["y"] + np.where(m["a"] > 0, m["a"], 0.5).sum(1),
        },
    ),
    "three ways": (
        f"{I}{J}if (a[i][j] > 1) h[i] += 2; else if (a[i][j] < -1) h[i] -= 1;",
        lambda m: {"h": m["h"] + np.where(m["a"] > 1, 2, np.where(m["a"] < -1, -1, 0)).sum(1)},
    ),
    "one after another": (
        f"{I}{J}{{ if (a[i][j] > 0) h[i] += 1; if (a[i][j] > 1) h[i] += 2; }}",
        lambda m: {"h": m["h"] + (m["a"] > 0).sum(1) + 2 * (m["a"] > 1).sum(1)},
    ),
    "best of some": (
        f"{I}{J}if (a[i][j] > y[i] && j != 2) y[i] = a[i][j];",
        lambda m: {"y": np.maximum(m["y"], np.delete(m["a"], 2, 1).max(1))},
    ),
    "best, else nothing": (
        f"{I}{J}if (a[i][j] > y[i]) y[i] = a[i][j]; else y[i] = y[i];",
        lambda m: {"y": np.maximum(m["y"], m["a"].max(1))},
    ),
    "some": (
        f"{I}{J}if (a[i][j] == 3) h[i] = 1;",
        lambda m: {"h": np.where((m["a"] == 3).any(1), 1, m["h"])},
    ),
    "all": (
        f"{I}{{ int ok = 1; {J}if (a[i][j] < -2) ok = 0; h[i] = ok; }}",
        lambda m: {"h": (m["a"] >= -2).all(1)},
    ),
    "the value at the end": (
        f"{I}{J}{{ y[i] += a[i][j]; z[i] = 2 * y[i]; }}",
        lambda m: {"y": m["y"] + m["a"].sum(1), "z": 2 * (m["y"] + m["a"].sum(1))},
    ),
    "prefix from a constant": (
        f"{I}{J}S[i][j] = (j > 0 ? S[i][j-1] : x[i]) + a[i][j];",
        lambda m: {"S": m["x"][:, None] + np.cumsum(m["a"], 1)},
    ),
    "prefix in branches": (
        f"{I}{J}if (j == 0) S[i][j] = x[i]; else S[i][j] = S[i][j-1] + a[i][j];",
        lambda m: {"S": np.cumsum(np.hstack([m["x"][:, None], m["a"][:, 1:]]), 1)},
    ),
    "prefix, first element before": (
        f"{I}{{ S[i][0] = a[i][0]; for (int j = 1; j < 6; j++) S[i][j] = S[i][j-1] + a[i][j]; }}",
        lambda m: {"S": np.cumsum(m["a"], 1)},
    ),
    "suffix, first element before": (
        "y[7] = 0; for (int i = 6; i >= 0; i--) y[i] = y[i+1] + x[i+1];",
        lambda m: {"y": np.append(np.cumsum(m["x"][:0:-1])[::-1], 0)},
    ),
    "inner names": (
        f"{I}{{ float t = 1; if (x[i] > 0) {{ float t = 5; z[i] = t; }} y[i] = t; }}",
        lambda m: {"y": np.ones(8), "z": np.where(m["x"] > 0, 5, m["z"])},
    ),
}


def _read(body: str) -> Program:
    return read_program(Source("input.c", f"{HEAD}{body}\n}}\n"))


@pytest.mark.parametrize("name", CASES)
def test_means_what_numpy_computes(name: str) -> None:
    body, meaning = CASES[name]
    program = _read(body)
    assert len({s.dims for s in program.stages}) == 1, "one nest, one stage for each group of outputs"
    for seed in range(4):
        arrays = random_arrays(program, seed, "exact", {})
        got, want = evaluate(program, arrays, {}), meaning(arrays)
        assert {o for s in program.stages for o in s.written} == want.keys()
        for out, values in want.items():
            np.testing.assert_array_equal(got[out], values, err_msg=out)


@pytest.mark.parametrize("name", ["two sums", "some", "all", "the value at the end", "prefix in branches"])
def test_kernels_compute_it(name: str) -> None:
    body, meaning = CASES[name]
    kernel = mdh.compile(Source("input.c", f"{HEAD}{body}\n}}\n"), device="opencl:0")
    arrays = random_arrays(_read(body), 5, "exact", {})
    want = meaning(arrays)
    given = {k: v.copy() for k, v in arrays.items()}
    kernel(*given.values())
    for out, values in want.items():
        np.testing.assert_array_equal(given[out], values, err_msg=out)


def test_a_reduction_reads_no_other_element_of_its_prefix() -> None:
    with pytest.raises(mdh.Failed) as failed:
        _read("for (int i = 2; i < 8; i++) y[i] = y[i-1] + y[i-2];")
    assert failed.value.diagnostics[0].code == "C150"
