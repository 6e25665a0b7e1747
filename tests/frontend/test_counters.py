"""Loop variables have the types that the C gives them in arithmetic; subscripts do not show it."""

import numpy as np

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source

TEXT = """void f(long X[70000], float Y[300], double Z[300], int W[64], float V[9])
{
    for (long i = 0; i < 70000; i++)
        X[i] = i * i;
    for (unsigned i = 0; i < 300; i++)
        Y[i] = i - 5;
    unsigned long k;
    for (k = 0; k < 300; k++)
        Z[k] = k * 100000000000;
    for (short i = 0; i < 64; i++)
        W[i] = i * -3;
    for (unsigned char i = 0; i < 9; i++)
        V[i] = -i / 2;
}
"""


def test_arithmetic_of_loop_variables_is_c_s() -> None:
    program = read_program(Source("f.c", TEXT))
    types = {"X": np.int64, "Y": np.float32, "Z": np.float64, "W": np.int32, "V": np.float32}
    arrays = {b.name: np.zeros(b.shape, types[b.name]) for b in program.buffers}
    got = evaluate(program, arrays, {})
    i = np.arange(70000)
    assert (got["X"] == i * i).all()
    assert (got["Y"] == ((i[:300] - 5) % 2**32).astype(np.float32)).all()
    assert (got["Z"] == i[:300] * 1e11).all()
    assert (got["W"] == i[:64] * -3).all()
    assert (got["V"] == -(i[:9] // 2)).all()


def test_subscripts_do_not_show_the_type() -> None:
    text = "void f(const float A[8][9], float B[9][8]) {{ for ({t} i = 1; i < 8; i++)" \
        " for ({t} j = 0; j < 9; j++) B[j][i - 1] += A[i][j]; }}"  # fmt: skip
    programs = [read_program(Source("f.c", text.format(t=t))) for t in ("int", "long", "unsigned", "char")]
    assert all(p == programs[0] for p in programs)


def test_constant_subscripts_beyond_int() -> None:
    text = (
        "void f(const float A[3000000001], float B[4]) { for (int i = 0; i < 4; i++) B[i] = A[3000000000]; }"
    )
    (stage,) = read_program(Source("f.c", text)).stages
    assert "3000000000" in str(stage.results[0].values[0])
