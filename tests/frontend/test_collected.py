"""Errors of independent statements come together; what follows from one of them does not."""

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.source import Source

HEAD = "void f(const float x[8], float y[8], float z[8], int n, int c[8])"


def errors(body: str) -> list[str]:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"{HEAD} {{ {body} }}"))
    return [f"{d.code} {d.headline}" for d in failed.value.diagnostics]


def test_all_statements_are_looked_at() -> None:
    found = errors(
        "for (int i = 0; i < 8; i++) { y[i] = a; if (b) z[i] = 1; else z[i] = d; } y[0] = x[1] % 2;"
    )
    assert [e[:4] for e in found] == ["C111", "C111", "C114"]


def test_what_a_failed_statement_was_to_set_is_not_missed_again() -> None:
    assert errors("float t = foo(x[0]); float u; u = t + 1; y[0] = u; t = u; y[1] = t;") == [
        "C112 the function `foo` is not known"
    ]
    assert errors("float t[4] = {foo(1)}; y[0] = t[2];") == ["C112 the function `foo` is not known"]
    assert errors("float t[4]; for (int i = 0; i < k; i++) t[i] = 1; y[0] = t[2];") == [
        "C111 `k` is not defined"
    ]


def test_one_name_is_said_once() -> None:
    found = errors(
        "for (int i = 0; i < n; i++) y[i] = 1; for (int j = 0; j < n; j++) z[j] = q + x[n]; y[0] = q;"
    )
    assert [e[:4] for e in found] == ["C136", "C111"]


def test_no_more_than_people_read() -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"{HEAD} {{ {' '.join(f'y[0] = v{k};' for k in range(40))} }}"))
    assert len(failed.value.diagnostics) == 12
    assert failed.value.diagnostics[-1].notes == ("28 more errors are not shown",)


def test_names_are_as_they_were_behind_a_failed_loop() -> None:
    found = errors("int i = 3; for (i = 0; i < 8; i += q) y[i] = 1; { float s = 2; z[0] = s + r; } z[1] = s;")
    assert found == ["C111 `q` is not defined", "C111 `r` is not defined", "C111 `s` is not defined"]


@pytest.mark.parametrize("body", [
    "y[0] = (x[0], 1);", "*y++ = 1;", "y[c[0]++] = 1;", "x[0] + 1;", "x;", "a: y[0] = 1;", "y[0] = s.x;",
    "y[0] = ({ int a = 1; a; });", "case 3: y[0] = 1;", "return 1;", "y[0] = (int[]){1}[0];", "{ 3; }",
    "y[0] = x[0]++;", "switch (n) { default: y[0] = 1; }", "for (;;) y[0] = 1;", "y = 3;", "y[0] = {1};",
    "for (int i = 0, j = 1; i < 8; i++, j++) y[i] = j;", "do y[0] = 1; while (0);", "y[0] = f;", "*x = 1;",
    "y[0] = -(float)(x);", "goto a;", "_Static_assert(1, \"x\");", "int g(int); y[0] = 1;", "y[0] = \"a\";",
])  # fmt: skip
def test_no_message_shows_the_parser_s_names(body: str) -> None:
    words = {"ExprList", "Compound", "ID", "UnaryOp", "BinaryOp", "InitList", "StructRef", "Label", "Case",
             "ArrayRef", "FuncCall", "Decl", "None", "p++", "Constant", "StaticAssert", "Return"}  # fmt: skip
    for e in errors(body):
        assert not words & set(e.replace("`", " ").split()), e


def test_several_assignments_in_one_statement() -> None:
    (stage,) = read_program(Source("f.c", f"{HEAD} {{ (void)n; y[0] = 1, z[0] = 2; }}")).stages
    assert {o.buffer for r in stage.results for o in r.outputs} == {"y", "z"}


@pytest.mark.parametrize(
    "body", ["*x = 1;", "x[0]++;", "for (int i = 0; i < 8; i++) if (y[i] > x[0]) x[0] = y[i];"]
)
def test_const_arrays_are_not_written_in_any_form(body: str) -> None:
    assert errors(body) == ["C118 `x` is const and cannot be written"]
