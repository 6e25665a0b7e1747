"""Statements as C has them, against the system's C compiler: loops, scopes, conversions, initialisers."""

import re
from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.reference.interpreter import EndlessLoop, steps
from tests.interpreter.c_functions import COMPILERS, HEAD, native, syntax_of
from tests.interpreter.test_expressions import different
from tests.support.exact_interpreter import interpret

BODIES_TEXT = """
// unsigned bound below 0
for (int i = -2; i < 10 - 2u; i++) y[i + 2] = 1;
// unsigned char wraps
for (unsigned char i = 250; i != 4; i++) y[i & 15] += i;
// signed char wraps
for (int8_t i = 120; i > 0; i += 3) y[i & 15] += i;
// unsigned down to 0
for (unsigned i = 9; i < 10; i--) y[i] = i;
// size_t
for (size_t i = 0; i < 16; i += 5) y[i] = i;
// short and a long bound
for (short i = 0; i < 7L; ++i) y[i] = -i;
// a counter from outside
int i; for (i = 3; i < 9; i++) y[i] = i; y[0] = i;
// float counter
for (float t = 0; t < 1; t += 0.25f) y[(int)(t * 4)] = t * 8;
// no iteration
for (int i = 5; i < 5; i++) y[i] = 1; for (int i = 5; i <= 4; i++) y[i] = 2;
// a bound that moves
int n = 4; for (int i = 0; i < n; i++) { y[i] = i; if (i == 2) n = 7; }
// counter changed inside
for (int i = 0; i < 12; i++) { y[i] = 1; i += i & 1; }
// triangle
for (int i = 0; i < 5; i++) for (int j = i; j < 5; j++) y[j] += x[i];
// shadowing
int k = 1; for (int i = 0; i < 3; i++) { int k = 5 + i; y[i] = k; { float k = 0.5f; z[i] = k; } }
y[3] = k;
// shadowed loop variable
for (int i = 0; i < 3; i++) { y[i] += 10; for (int i = 3; i < 6; i++) y[i] += 1; }
// shadowed parameter
{ float x = 2.5f; for (int i = 0; i < 3; i++) z[i] = x; } z[4] = x[1];
// narrow +=
int8_t t = 100; for (int i = 0; i < 16; i++) { t += x[i]; y[i] = t; }
// narrow *=
uint8_t t = 3; for (int i = 0; i < 16; i++) { t *= 7; y[i] = t; }
// integer += float
int t = 10; for (int i = 0; i < 16; i++) { t += z[i] * 3; y[i] = t; }
// integer *= double
int t = 1000; for (int i = 0; i < 6; i++) { t *= 0.7; y[i] = t; }
// float += double
float s = 0; for (int i = 0; i < 16; i++) { s += (double)z[i] / 3; z[i] = s; }
// float -= integer
float s = 16777216; for (int i = 0; i < 16; i++) { s -= x[i]; z[i] = s; }
// unsigned short >>=
unsigned short t = 65535; for (int i = 0; i < 16; i++) { t >>= 1; y[i] = t; }
// signed >>=, <<=
int16_t t = -300; t >>= 2; y[0] = t; t <<= 9; y[1] = t;
// unsigned / signed
unsigned u = 7; y[0] = -7 / u > 1; y[1] = -7 / (int)u; y[2] = -7 % 3; y[3] = u % -3;
// mixed comparison
y[0] = -1 < 1u; y[1] = -1L < 1u; y[2] = (uint8_t)200 > -1; y[3] = (int8_t)200 < 0;
// short circuit
for (int i = 0; i < 16; i++) if (i > 0 && x[i - 1] > 0 || i == 15) y[i] = 7;
// conditional skips
for (int i = 0; i < 16; i++) y[i] = i < 15 ? x[i + 1] : -1;
// else chain
for (int i = 0; i < 16; i++) if (x[i] > 1) y[i] = 1; else if (x[i] < 0) y[i] = 2; else y[i] = 3;
// condition a float
for (int i = 0; i < 16; i++) if (z[i]) y[i] = 1; else y[i] = !z[i] + 2;
// local array
float t[3]; for (int i = 0; i < 3; i++) t[i] = z[i] * 2; for (int i = 0; i < 3; i++) z[i] = t[2 -
i];
// local array begins anew
for (int i = 0; i < 4; i++) { int t[4] = {1, 2}; t[i] += 5; y[i] = t[0] + 10 * t[i]; }
// nested initialiser
int t[2][3] = {{1, 2}, {3, 4, 5}}; int u[2][2] = {1, 2, 3}; for (int i = 0; i < 2; i++) for (int j =
0; j < 3; j++) y[i * 3 + j] = t[i][j] + (j < 2 ? u[i][j] : 0);
// open extent
int t[] = {4, 5, 6}; for (int i = 0; i < 3; i++) y[i] = t[i];
// constants
y[0] = INT_MAX; y[1] = INT8_MIN; y[2] = UINT8_MAX; z[0] = FLT_MAX; z[1] = INFINITY; z[2] = M_PI_2;
y[3] = sizeof_free; y[4] = UINT_MAX > 0; y[5] = -1 < UINT_MAX; y[6] = SIZE_MAX == -1;
// chars
y[0] = 'a'; y[1] = '\\n'; char c = 200; y[2] = c; unsigned char d = 'z' + 200; y[3] = d;
// octal and hexadecimal
y[0] = 017; y[1] = 0xffu; y[2] = 0x7fffffff + 1; y[3] = 0xffffffff > -1;
// table
for (int i = 0; i < 3; i++) { z[i] = weights[i] * 2; y[i] = table[1][i]; } y[4] = sizeof_free;
// truncation
y[0] = (int)2.9f; y[1] = (int)-2.9; y[2] = (uint8_t)200.5f; y[3] = (int8_t)-100.9; y[4] = 1e3;
// round to nearest
z[0] = 0.1; z[1] = 16777217; z[2] = 1.0 / 3; double d = 1.0f / 3; z[3] = d; z[4] = 1e-46;
// rounding functions
for (int i = 0; i < 16; i++) { z[i] = roundf(z[i] * 4) + rintf(z[i] * 2) + copysignf(1, z[i]); }
// wrap
int a = 2147483647; a += 1; y[0] = a; y[1] = a * 3; y[2] = -a; long b = 1L << 62; b *= 2; y[3] = b
>> 60;
"""
BODIES = dict(re.findall(r"^// (.*)\n((?:(?!//).*\n)+)", BODIES_TEXT, re.MULTILINE))
PARAMETERS = "int x[16], int y[16], float z[16]"
GLOBALS = (
    "static const float weights[3] = {0.1, 0.25f, 3};\nconst int table[2][3] = {{1, 2, 3}, {-4, 5}};\n"
    "static const int sizeof_free = 3 * 5;\n"
)


def arrays_of(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.integers(-5, 6, 16).astype(np.int32),
        "y": np.zeros(16, np.int32),
        "z": rng.uniform(-2, 2, 16).astype(np.float32) * (np.arange(16) % 5 > 0),
    }


@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("name", BODIES)
def test_statements(name: str, cc: str, tmp_path: Path) -> None:
    text = f"{HEAD}{GLOBALS}void f({PARAMETERS}) {{\n  {BODIES[name]}\n}}\n"
    arrays = arrays_of(1)
    assert different(interpret(syntax_of(text), arrays, {}), native(text, arrays, tmp_path, cc)) == []


def test_arrays_are_indexed_as_declared() -> None:
    text = "void f(int n, const float A[][4], float *p, float B[n][3]) { B[1][2] = A[2][3]; p[5] = n; }"
    a = np.arange(12, dtype=np.float32)
    left = interpret(
        syntax_of(text), {"A": a.reshape(3, 4), "p": np.zeros((2, 3), np.float32), "B": np.zeros(6)}, {"n": 2}
    )
    assert left["B"].tolist() == [0, 0, 0, 0, 0, 11]
    assert left["p"].tolist() == [[0, 0, 0], [0, 0, 2]]
    assert left["A"].tolist() == a.reshape(3, 4).tolist()


def test_given_arrays_stay() -> None:
    x = np.zeros(4, np.int32)
    left = interpret(syntax_of("void f(int x[4]) { for (int i = 0; i < 4; i++) x[i] = i; }"), {"x": x}, {})
    assert x.tolist() == [0, 0, 0, 0] and left["x"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("y[x[0] + 20] = 1;", "A130"),
        ("y[0] = x[x[1] - 100];", "A130"),
        ("y[0] = 5 / (x[0] - x[0]);", "A131"),
        ("y[0] = 5 % (x[0] - x[0]);", "A131"),
        ("y[0] /= y[1];", "A131"),
    ],
)
def test_what_c_leaves_open_is_refused(body: str, code: str) -> None:
    with pytest.raises(Failed) as failed:
        interpret(syntax_of(f"void f({PARAMETERS}) {{\n  {body}\n}}"), arrays_of(1), {})
    found = failed.value.diagnostics[0]
    assert found.code == code and found.labels[0].span.line == 2


@pytest.mark.parametrize("head", ["unsigned i = 63; i >= 0; i--", "unsigned char i = 0; i < 300; i++", ";;"])
def test_endless_loops_end(head: str) -> None:
    function = syntax_of(f"void f({PARAMETERS}) {{ for ({head}) y[0] = 1; }}")
    with pytest.raises(EndlessLoop):
        interpret(function, arrays_of(1), {}, limit=1000)
    assert steps(function, {}, 1000) == 1001


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) y[j] += x[i];", 70),
        ("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) y[j] += x[i];", 1001),
        ("for (int i = 0; i < n; i++) { int top = i + 1; for (int j = 0; j < top; j++) y[j] = 1; }", 1001),
        ("for (int i = 0; i < n; i++) { int top = n + 1; for (int j = 0; j < top; j++) y[j] = 1; }", 120),
        ("for (int i = -2; i < n - 2u; i++) y[0] = 1;", 0),
        ("int i, j; for (i = 0; i < n; i++) for (j = i; j < n; j += 2) y[j] = 1;", 1001),
        ("int i, j; for (i = 0; i < n; i++) for (j = 1; j < n; j += 2) y[j] = 1;", 50),
        ("int k = 3; for (int i = 0; i < k; i++) y[i] = 1;", 4),
        ("int k = 3; k = x[0]; for (int i = 0; i < k; i++) y[i] = 1;", 1001),
        ("for (int i = 0; i < x[0]; i++) y[i] = 1;", 1001),
        ("for (int i = 0; i < n; i++) if (x[i]) y[i] = 1; else { y[i] = 2; z[i] = 1; }", 30),
        ("for (int i = 0; i < 1000000000; i++) y[0] = 1;", 1001),
    ],
)
def test_steps(body: str, count: int) -> None:
    assert steps(syntax_of(f"void f(int n, {PARAMETERS}) {{ {body} }}"), {"n": 10}, 1000) == count
