"""Names that `-D` binds: sizes of typedefs too, macros, and those that occur nowhere."""

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import free_sizes, read_program
from mdh.ir.dtype import I64
from mdh.source import Source

TYPEDEF = """typedef long long i64;
typedef const float real;
typedef i64 index;
void f(index n, i64 y[n], real *x) {
  for (index i = 0; i < n; i++)
    y[i] = (i64)x[i];
}
"""


def test_typedefs_of_scalar_types_are_those_types() -> None:
    program = read_program(Source("f.c", TYPEDEF), defines={"n": 8})
    y, x = program.buffers
    assert (y.dtype, y.shape, x.const) == (I64, (8,), True)
    assert program.scalar_of["n"].dtype == I64
    assert free_sizes(Source("f.c", TYPEDEF)) == ("n",)


@pytest.mark.parametrize(
    ("text", "defines", "help_"),
    [
        ("void f(float y[K]) { y[0] = 1; }", {"k": 8}, "did you mean `K`?"),
        (
            "void f(int n, float y[n]) { y[0] = 1; } // not m",
            {"m": 8},
            "names that can be defined here: n",
        ),
        ("void f(float y[8]) { y[0] = 1; }", {"Q": 8}, "leave it out"),
        # a define would replace these names where they are declared
        ("void f(float y[8]) { int n = 3; y[0] = n; }", {"N": 8}, "leave it out"),
        ("void f(float y[8]) { int nn = 3; y[0] = nn + MM; }", {"mm": 8}, "did you mean `MM`?"),
    ],
)
def test_a_name_that_occurs_nowhere(text: str, defines: dict[str, str | int], help_: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text), defines=defines)
    (found,) = failed.value.diagnostics
    assert (found.code, found.help) == ("C123", help_)


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef FAST\n#endif\nvoid f(float y[8]) { y[0] = 1; }",
        "#define JOIN(a, b) a##b\nvoid f(float y[8]) { y[0] = JOIN(FA, ST); }",
        "#ifndef FAST\nconst int FAST = 3;\n#endif\nvoid f(float y[8]) { y[0] = FAST; }",
    ],
)
def test_macros_that_the_text_may_use(text: str) -> None:
    read_program(Source("f.c", text), defines={"FAST": 1})
