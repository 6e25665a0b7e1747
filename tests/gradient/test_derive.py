"""Derivatives of functions, backward programs by their texts, and what they keep open."""

from typing import Any

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed
from mdh.gradient.derive import backward, differentiable
from mdh.gradient.functions import _RULES, FLAT
from mdh.ir.program import Program
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate
from mdh.source import Source

STEP = 1e-6
INSIDE = {"acos", "asin", "atanh"}


def read(text: str, **sizes: Any) -> Program:
    return Pipeline().read(Source("f.c", f"#include <math.h>\n{text}"), defines=sizes)


def test_functions_by_differences() -> None:
    """Every function of math.h that has a rule, at points where it has a derivative."""
    names = [*_RULES, *FLAT]
    counts = {n: len(_RULES.get(n, (0,))) for n in names}
    lines, params = [], []
    for n in names:
        x = "x[i] * 0.1" if n in INSIDE else "x[i] + 1.0" if n == "acosh" else "x[i]"
        args = ", ".join((x, "y[i]", "z[i]")[: counts[n]])
        params.append(f"double o_{n}[8]")
        lines.append(f"for (int i = 0; i < 8; i++) o_{n}[i] = {n}({args});")
    given = "const double x[8], const double y[8], const double z[8]"
    program = read(f"void f({given}, {', '.join(params)}) {{ {' '.join(lines)} }}")
    rng = np.random.default_rng(3)
    arrays = {n: rng.uniform(0.3, 2.4, 8) for n in "xyz"}
    seeds = {f"o_{n}_grad": rng.standard_normal(8) for n in names}
    zeros = {f"o_{n}": np.zeros(8) for n in names}
    reverse = read(backward(program).text)
    known = {**arrays, **seeds, **zeros, **{f"{n}_grad": np.zeros(8) for n in "xyz"}}
    known |= evaluate(program, {**arrays, **zeros})
    found = evaluate(reverse, {n: known[n] for n in reverse.params})
    for name in "xyz":
        ends = []
        for step in (STEP, -STEP):
            out = evaluate(program, {**arrays, name: arrays[name] + step, **zeros})
            ends.append(sum(out[f"o_{n}"] * seeds[f"o_{n}_grad"] for n in names))
        np.testing.assert_allclose(
            found[f"{name}_grad"], (ends[0] - ends[1]) / (2 * STEP), rtol=1e-5, atol=1e-6
        )


def test_the_gradient_of_a_contraction_is_a_contraction() -> None:
    program = read(
        "void mm(const float A[4][5], const float B[5][6], float C[4][6]) {"
        " for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++) { C[i][j] = 0.0f;"
        " for (int k = 0; k < 5; k++) C[i][j] += A[i][k] * B[k][j]; } }"
    )
    found = backward(program, ["A"])
    assert found.text == (
        "void mm_backward(const float B[5][6], const float C_grad[4][6], float A_grad[4][5]) {\n"
        "  for (int i = 0; i < 4; i++)\n"
        "    for (int k = 0; k < 5; k++) {\n"
        "      A_grad[i][k] = 0.0f;\n"
        "      for (int j = 0; j < 6; j++)\n"
        "        A_grad[i][k] += C_grad[i][j] * B[k][j];\n"
        "    }\n"
        "}\n"
    )
    assert (found.given, found.incoming, found.results) == (("B",), {"C_grad": "C"}, {"A_grad": "A"})
    assert differentiable(program) == ("A", "B")


def test_strides_cost_no_more_than_the_forward_program() -> None:
    """The elements of a window with a stride are dealt out: no turn of a loop is wasted on those between."""
    program = read(
        "void conv(const float X[17], const float W[3], float Y[8]) {"
        " for (int i = 0; i < 8; i++) { Y[i] = 0.0f;"
        " for (int r = 0; r < 3; r++) Y[i] += X[2*i + r] * W[r]; } }"
    )
    text = backward(program, ["X"]).text
    assert "X_grad[q * 2 + p] += Y_grad[q - t] * W[t * 2 + p];" in text


def test_open_sizes_stay_open() -> None:
    text = (
        "void f(int n, const float x[n], const float w[n], float y[n]) {"
        " for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * w[i]; }"
    )
    found = backward(read(text, n=mdh.open(1, 64)))
    assert found.sizes == ("n",)
    reverse = read(found.text, n=mdh.open(1, 64))
    assert [str(s) for s in reverse.opens] == ["1..64"]


def test_inputs_alone_have_gradients() -> None:
    program = read(
        "void f(const float x[4], const int k[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = x[i]; }"
    )
    with pytest.raises(Failed, match=r"A120: .*`k` is no array of floats"):
        backward(program, ["k"])


def test_a_maximum_of_values_that_kernels_may_round_otherwise() -> None:
    """Its gradient goes to the values that equal it. A contracted product may not, in another kernel."""
    text = (
        "void f(const float x[4][5], const float w[5], float y[4]) { float t[4][5];"
        " for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) t[i][j] = VALUE;"
        " for (int i = 0; i < 4; i++) { y[i] = -INFINITY;"
        " for (int j = 0; j < 5; j++) y[i] = fmaxf(y[i], t[i][j]); } }"
    )
    backward(read(text.replace("VALUE", "x[i][j] * w[j]")))
    for value in ("x[i][j] * w[j] + 1.0f", "expf(x[i][j])"):
        with pytest.raises(Failed, match=r"A120: .*another kernel may round otherwise"):
            backward(read(text.replace("VALUE", value)))


def test_names_that_gradients_would_have() -> None:
    """An input that is called like a gradient keeps its name."""
    program = read(
        "void f(const float x[4], const float y_grad[4], float y[4]) {"
        " for (int i = 0; i < 4; i++) y[i] = x[i] * y_grad[i]; }"
    )
    found = backward(program, ["x"])
    assert (found.given, found.incoming) == (("y_grad",), {"y_grad_2": "y"})


def test_equal_maxima_share_a_gradient() -> None:
    program = read(
        "void f(const double x[2][3], double y[2]) { for (int i = 0; i < 2; i++) { y[i] = -INFINITY;"
        " for (int j = 0; j < 3; j++) y[i] = fmax(y[i], x[i][j]); } }"
    )
    x, y = np.array([[1.0, 3.0, 3.0], [5.0, 4.0, 0.0]]), np.array([3.0, 5.0])
    reverse = read(backward(program).text)
    known = {"x": x, "y": y, "y_grad": np.array([8.0, 2.0]), "x_grad": np.zeros((2, 3))}
    found = evaluate(reverse, {n: known[n] for n in reverse.params})["x_grad"]
    assert found.tolist() == [[0.0, 4.0, 4.0], [2.0, 0.0, 0.0]]
