"""Signed arithmetic on data wraps in languages that leave its overflow undefined."""

import re

import pytest

from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.pairs import planned

HEAD = "#include <stdint.h>\n#define N 4096\n"


def _text(body: str, target: str) -> str:
    program = read_program(Source("f.c", HEAD + body))
    machine = load_machine("h200" if target == "cuda" else "generic-cpu")
    return emit(lower(planned(program, None, machine, target)), program).source


MAP = "void f(const int x[N], const int w[N], int y[N]) { for (int i = 0; i < N; i++) y[i] = %s; }"


@pytest.mark.parametrize(
    ("value", "cuda"),
    [
        ("x[i] * w[i]", "x[i] * (unsigned int)w[i]"),
        ("x[i] - 3 + w[i]", "x[i] - 3U + w[i]"),
        ("-x[i]", "-(unsigned int)x[i]"),
        ("x[i] + 1 > w[i]", "(int)(x[i] + 1U) > w[i]"),
        ("(int8_t)x[i] * (int8_t)w[i]", "(int)(signed char)x[i] * (int)(signed char)w[i]"),
    ],
)
def test_what_may_overflow_is_unsigned(value: str, cuda: str) -> None:
    found = re.sub(r"_row\[lane\]", "[i]", _text(MAP % value, "cuda"))
    assert cuda in found, found


def test_vectors_become_unsigned_without_a_function() -> None:
    """PoCL's conversions get wide vectors wrong on processors with AVX-512."""
    found = _text(MAP % "x[i] * w[i]", "opencl")
    assert "as_uint" in found
    assert "as_int" in found
    assert "convert_" not in found


def test_vectors_of_c_change_their_sign_without_a_function() -> None:
    found = _text(MAP % "(int)((unsigned)x[i] >> 1)", "c")
    assert re.search(r"\(u32x\d+\)\(", found), found
    assert "as_" not in found


def test_c_is_compiled_with_wrapping_integers() -> None:
    program = read_program(Source("f.c", HEAD + MAP % "x[i] * w[i]"))
    text = emit(lower(planned(program, None, load_machine("generic-cpu"), "c")), program)
    assert "unsigned" not in text.source
    assert "-fwrapv" in text.options


def test_sums_keep_the_short_form() -> None:
    body = "void f(const int A[N][64], int y[N]) { for (int i = 0; i < N; i++) { int s = 0;"
    body += " for (int j = 0; j < 64; j++) s += A[i][j]; y[i] = s; } }"
    assert "+= (unsigned int)A[" in _text(body, "cuda")


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_subscripts_stay_signed(target: str) -> None:
    body = "void f(const float A[N][N], float y[N]) { for (int i = 0; i < N; i++) { y[i] = 0;"
    body += " for (int j = 0; j < N; j++) y[i] += A[i][j]; } }"
    found = _text(body, target)
    assert "uint" not in found
    assert "unsigned" not in found
