"""Errors of independent statements come together; what follows from one of them does not."""

from random import Random

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.collect import MOST_ERRORS
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
    assert [e[:4] for e in found] == ["C111", "C111", "C111", "C114"]


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


@pytest.mark.parametrize("begins", ["for (int i = 0; i < 8; i++)", "if (n)"])
def test_a_missing_semicolon_hides_no_error_behind_it(begins: str) -> None:
    word = begins.partition(" ")[0]
    found = errors(f"y[0] = x[0] {begins} y[1] = 2 +; z[0] = gone;")
    assert found == [
        f"C101 C syntax error at `{word}`",
        "C101 C syntax error: invalid expression",
        "C111 `gone` is not defined",
    ]


def test_no_more_than_people_read() -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"{HEAD} {{ {' '.join(f'y[0] = v{k};' for k in range(80))} }}"))
    assert len(failed.value.diagnostics) == MOST_ERRORS == 50
    assert failed.value.diagnostics[-1].notes == ("30 more errors are not shown",)


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


WRONG = {
    "float a{n} = missing{n}; y[0] = a{n}; a{n} = a{n} + 1; y[1] = a{n};": "C111",
    "y[2] = other{n}(x[0]);": "C112",
    "while (1) y[3] = 1;": "C113",
    "for (int i{n} = 0; i{n} < 8; i{n}++) {{ float b{n} = gone{n}; y[i{n}] = b{n} * x[i{n}]; }}": "C111",
    "for (int j = 0; j * j < 8; j++) {{ y[j] = x[j]; float e{n} = x[j]; z[j] = e{n}; }}": "C130",
    "c[0] = x[1] % {n};": "C114",
    "{{ int d{n} = 0; static float d{n}x; z[0] = d{n}; }}": "C113",
    "if (lost{n} > 2) {{ z[1] = 1; }} else {{ z[2] = 2; }}": "C111",
    "y[4] = 3 +;": "C101",
    "z[3] = (x[2];": "C101",
    "z[5] = x[3] * 2 for (int k = 0; k < 8; k++) {{ y[k] = x[k]; }}": "C101",
    "float g{n} h; y[5] = g{n}; g{n} = 2; z[4] = g{n} + 1;": "C101",
    "for (int k = 0, k < 8; k++) {{ y[k] = 1; z[k] = x[k]; }}": "C101",
    "if (n {{ y[6] = 1; }} else {{ y[7] = 2; }}": "C101",
    "float t{n}[3] = {{1, 2 3}}; y[0] = t{n}[1];": "C101",
    "x[{n} % 8] = 1;": "C118",
}  # fmt: skip
"""Statements that belong together, and the one error in them. {n}: makes names of their own."""
RIGHT = (
    "for (int i = 0; i < 8; i++) {{ y[i] = x[i]; }}", "float r{n} = 2; y[1] = r{n};", "c[{n} % 8] = n > 2;",
    "{{ int j = 3; z[j] = x[j]; }}", "if (n) {{ y[0] = 1; }} else {{ y[0] = 2; }}", "/* y = ; */",
    "for (int j = 0; j < 8; j++)\n  for (int k = 0; k < 2; k++)\n    z[j] += x[j];",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_every_error_is_reported_once_and_nothing_that_follows_from_it(seed: int) -> None:
    chance = Random(seed)
    drawn = [(t, c) for t, c in chance.choices(list(WRONG.items()), k=chance.randrange(1, 7))]
    rows = [*drawn, *((t, "") for t in chance.choices(RIGHT, k=chance.randrange(5)))]
    chance.shuffle(rows)
    body, wanted, places = f"{HEAD.replace(' int n,', ' const int n,')} {{\n", [], []
    for number, (text, code) in enumerate(rows, 1):
        start = len(body)
        body += text.format(n=number) + chance.choice(("\n", " ", "\n\n"))
        wanted += [code] if code else []
        places += [(start, len(body))] if code else []
    source = Source("f.c", f"{body}}}\n")
    with pytest.raises(Failed) as failed:
        read_program(source)
    found = failed.value.diagnostics
    assert [d.code for d in found] == wanted, [str(d) for d in found]
    for d, (start, end) in zip(found, places, strict=True):
        assert start <= d.labels[0].span.start <= end


def test_damage_never_makes_more_errors_than_it_can() -> None:
    """The first error of syntax is the one that the parser finds alone, and places rise."""
    chance = Random(5)
    text = f"{HEAD} {{\n" + "".join(t.format(n=n) + "\n" for n, t in enumerate(RIGHT)) + "}\n"
    for _ in range(150):
        at = chance.randrange(len(HEAD), len(text))
        broken = (
            text[:at] + chance.choice((";", "{", "}", "(", ")", "x y", "=", '"', "", "for")) + text[at + 1 :]
        )
        try:
            read_program(Source("f.c", broken))
        except Failed as failed:
            found = [d for d in failed.diagnostics if d.code == "C101"]
            places = [d.labels[0].span.start for d in found]
            assert places == sorted(places) and len(found) <= 3, broken
