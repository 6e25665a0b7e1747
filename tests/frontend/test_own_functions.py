"""Functions of one `return` that a C text defines for itself stand for their expressions."""

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import function_names, read_program
from mdh.ir.program import Program
from mdh.source import Source

HEAD = """#include <math.h>
static inline float square(float x) { return x * x; }
static int half(int n) { return n / 2; }
static float norm(float x, double s) { return square(x) * s + fmaxf(square(x + 1), 0); }
static float flat(void) { return 0.5f; }
"""
LOOP = """void f(int n, const float A[n], const int K[n], double B[n]) {{
  for (int i = 0; i < n; i++) B[i] = {};
}}"""

DOUBLING = "".join(
    f"static float g{n}(float x) {{ return {f'g{n - 1}' if n else ''}(x * x); }}\n" for n in range(15)
)


def read(value: str, head: str = HEAD) -> Program:
    return read_program(Source("f.c", head + LOOP.format(value)), defines={"n": 8})


@pytest.mark.parametrize(("call", "meant"), [
    ("square(A[i])", "(float)((float)A[i] * (float)A[i])"),
    ("square(K[i])", "(float)((float)K[i] * (float)K[i])"),
    ("half(7.9f) + half(K[i] * 3)", "(int)((int)7.9f / 2) + (int)((int)(K[i] * 3) / 2)"),
    ("flat() * A[i]", "(float)0.5f * A[i]"),
    ("square(square(A[i]))",
     "(float)((float)(float)((float)A[i] * (float)A[i]) * (float)(float)((float)A[i] * (float)A[i]))"),
    ("norm(A[i], K[i])",
     "(float)((float)((float)(float)A[i] * (float)(float)A[i]) * (double)K[i]"
     " + fmaxf((float)((float)((float)A[i] + 1) * (float)((float)A[i] + 1)), 0))"),
    ("A[half(K[i])]", "A[(int)((int)K[i] / 2)]"),
])  # fmt: skip
def test_a_call_is_its_expression_with_conversions(call: str, meant: str) -> None:
    assert read(call).stages == read(meant, "#include <math.h>\n").stages


def test_only_other_functions_are_chosen() -> None:
    source = Source("f.c", HEAD + LOOP.format("square(A[i])"))
    assert function_names(source) == ("f",)
    visible = Source("f.c", source.text.replace("static ", ""))
    assert function_names(visible) == ("f",)
    program = read_program(visible, defines={"n": 8})
    assert (program.name, program.stages) == ("f", read("square(A[i])").stages)


@pytest.mark.parametrize(("head", "value", "said"), [
    ("static float g(float x) { return h(x); } static float h(float x) { return g(x); }", "h(1.0f)",
     "itself"),
    ("static float g(float x) { float y = x; return y; }", "g(1.0f)", "more than one `return`"),
    ("static float g(const float *x) { return x[0]; }", "g(A)", "more than one `return`"),
    ("static float g(float x) { return x; }", "g(A[i], 2)", "takes 1 argument, not 2"),
    ("const int i = 3; static int g(int x) { return x + i; }", "g(K[i])", "another variable"),
    (DOUBLING, "g14(A[i])", "more than"),
])  # fmt: skip
def test_what_stands_for_no_expression_is_refused(head: str, value: str, said: str) -> None:
    with pytest.raises(Failed) as failed:
        read(value, head + "\n")
    assert said in failed.value.diagnostics[0].headline
    assert failed.value.diagnostics[0].code in ("C112", "C102", "C121")
