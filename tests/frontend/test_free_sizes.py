"""Which integer parameters a call must bind before there is a Program."""

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import free_sizes, read_program
from mdh.source import Source

MATVEC = Source("matvec.c", """
void matvec(int m, int n, float scale, int shift, const float A[m][n], const float *x, float y[m]) {
  for (int i = 0; i < m; i++)
    for (int k = 0; k < n; k++)
      y[i] += scale * A[i][k] * x[k] + shift;
}
""")  # fmt: skip


def test_sizes_in_order_of_the_parameters() -> None:
    assert free_sizes(MATVEC) == ("m", "n")


def test_bound_sizes_are_left_out() -> None:
    assert free_sizes(MATVEC, defines={"n": 8}) == ("m",)
    assert free_sizes(MATVEC, defines={"m": "0x10", "n": 8}) == ()


def test_bound_program_has_its_extents() -> None:
    program = read_program(MATVEC, defines={"m": 4, "n": 8})
    assert [d.extent for d in program.stages[0].dims] == [4, 8]
    assert {s.name: s.size for s in program.scalars} == {"m": 4, "n": 8, "scale": None, "shift": None}


def test_unbound_size_is_named() -> None:
    with pytest.raises(Failed) as failed:
        read_program(MATVEC, defines={"m": 4})
    assert failed.value.diagnostics[0].code == "C136"


def test_subscript_makes_a_size() -> None:
    source = Source("f.c", "void f(int n, float y[8], const float x[64]) {"
                           " for (int i = 0; i < 8; i++) y[i] = x[i * n]; }")  # fmt: skip
    assert free_sizes(source) == ("n",)


def test_chosen_function() -> None:
    source = Source("f.c", "void f(int n, float y[n]) { y[0] = 1; } void g(int m, float y[m]) { y[0] = m; }")
    assert free_sizes(source, function="g") == ("m",)
