"""Conversions inside of updates, and those of functions and constants: judged by the C compiler."""

from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.arrays import Arrays
from tests.support.native import compiler, run_native

OVER = "for (int i = 0; i < 17; i++) for (int j = 0; j < 13; j++) "
TYPES = ("i8", "u8", "i32", "u32", "i64", "f32", "f64")
C_NAMES = {
    "i8": "int8_t", "u8": "uint8_t", "i32": "int", "u32": "unsigned", "i64": "int64_t", "f32": "float",
    "f64": "double",
}  # fmt: skip

KEPT = {
    "narrow both": ("int8_t", "int", "if ((int8_t)a[i][j] > y[i]) y[i] = (int8_t)a[i][j];"),
    "small values": ("int8_t", "int8_t", "y[i] = a[i][j] > y[i] ? a[i][j] : y[i];"),
    "a constant": ("uint8_t", "int8_t", "if (a[i][j] > 0 && y[i] < 7) y[i] = 7;"),
    "compared unsigned": ("unsigned", "int", "if (a[i][j] > y[i]) y[i] = a[i][j];"),
    "widened": ("int64_t", "unsigned", "y[i] = y[i] < a[i][j] ? a[i][j] : y[i];"),
    "rounded": ("float", "double", "if (a[i][j] * 0.1 > y[i]) y[i] = a[i][j] * 0.1;"),
    "to float": ("float", "int", "y[i] = a[i][j] > y[i] ? a[i][j] : y[i];"),
    "truncated both": ("int", "float", "if ((int)a[i][j] > y[i]) y[i] = a[i][j];"),
    "narrow sum": ("uint8_t", "int", "y[i] = (uint8_t)(y[i] + a[i][j]);"),
    "wide sum": ("int", "int", "y[i] = (int64_t)y[i] + a[i][j] * 3L;"),
    "abs of long": ("int64_t", "int64_t", "y[i] += abs(a[i][j]);"),
    "abs of unsigned": ("int64_t", "unsigned", "y[i] += abs(a[i][j]);"),
    "abs of float": ("float", "float", "y[i] += abs(a[i][j]);"),
    "labs of int": ("int64_t", "int", "y[i] += labs(a[i][j]) * 100000000;"),
    "hexadecimal": ("float", "float", "y[i] += a[i][j] * 0x1.8p1f + 0xfp0f;"),
}
REFUSED = {
    "narrowed best": ("uint8_t", "int", "if (a[i][j] > y[i]) y[i] = a[i][j];"),
    "narrowed smallest": ("int8_t", "int", "y[i] = a[i][j] < y[i] ? a[i][j] : y[i];"),
    "other sign": ("int", "unsigned", "if (a[i][j] > y[i]) y[i] = a[i][j];"),
    "truncated best": ("int", "float", "if (a[i][j] > y[i]) y[i] = a[i][j];"),
    "truncated smallest": ("int", "double", "y[i] = a[i][j] < y[i] ? a[i][j] : y[i];"),
    "compared narrow": ("int", "int", "if ((int8_t)a[i][j] > y[i]) y[i] = a[i][j];"),
    "compared as integer": ("float", "float", "y[i] = (int)a[i][j] > y[i] ? a[i][j] : y[i];"),
    "element narrow": ("int", "int", "if (a[i][j] > (int8_t)y[i]) y[i] = a[i][j];"),
    "sum narrowed": ("int", "int", "y[i] = (uint8_t)(y[i] + a[i][j]);"),
    "term narrowed": ("int", "int", "y[i] = (uint8_t)y[i] + a[i][j];"),
    "sum to integer": ("float", "float", "y[i] = (int)(y[i] + a[i][j]);"),
    "branches narrowed": ("int", "int", "y[i] = (uint8_t)(a[i][j] > 0 ? y[i] + 1 : y[i] - 1);"),
    "prefix narrowed": ("int", "int", "if (i > 0) y[i] = (uint8_t)(y[i - 1] + a[i][0]);"),
    "bool": ("int", "float", "{ _Bool b = a[i][j] * 0.5f; y[i] += b; }"),
}  # fmt: skip


def _source(out: str, value: str, body: str) -> Source:
    head = "#include <stdint.h>\n#include <stdlib.h>\n"
    return Source("input.c", f"{head}void f({out} y[17], const {value} a[17][13]) {{\n{OVER}{body}\n}}\n")


def _values(ctype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    dtype = {"int": "int32", "unsigned": "uint32", "float": "float32", "double": "float64"}.get(
        ctype, ctype.removesuffix("_t")
    )
    if dtype.startswith("float"):
        return (rng.integers(-40, 41, shape) * 0.375).astype(dtype)
    least = 0 if dtype.startswith("u") else -300
    few = rng.integers(least, 301, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.2, np.asarray(2**31 - 9).astype(dtype), few).astype(dtype)


def _agree(source: Source, out: str, value: str, folder: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    program = read_program(source)
    rng = np.random.default_rng(3)
    arrays: Arrays = {"y": _values(out, (17,), rng), "a": _values(value, (17, 13), rng)}
    want = run_native(source, program, folder, {}, arrays)["y"]
    np.testing.assert_allclose(evaluate(program, arrays, {})["y"], want, rtol=1e-5)


@pytest.mark.parametrize("name", KEPT)
def test_means_what_the_c_compiler_says(name: str, tmp_path: Path) -> None:
    out, value, body = KEPT[name]
    _agree(_source(out, value, body), out, value, tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_is_no_update(name: str, tmp_path: Path) -> None:
    """What is no reduction is refused, or runs in turns of the loop that carries it."""
    out, value, body = REFUSED[name]
    try:
        program = read_program(_source(out, value, body))
    except mdh.Failed as failed:
        assert failed.diagnostics[0].code in ("C110", "C150")
        return
    assert program.loops
    if value not in ("float", "double") or out in ("float", "double"):
        _agree(_source(out, value, body), out, value, tmp_path)


@pytest.mark.parametrize("out", TYPES)
@pytest.mark.parametrize("value", TYPES)
@pytest.mark.parametrize(
    "body", ["if (a[i][j] > y[i]) y[i] = a[i][j];", "y[i] = a[i][j] < y[i] ? a[i][j] : y[i];"]
)
def test_a_best_of_any_types_is_right_or_refused(out: str, value: str, body: str, tmp_path: Path) -> None:
    source = _source(C_NAMES[out], C_NAMES[value], body)
    try:
        read_program(source)
    except mdh.Failed as failed:
        assert failed.diagnostics[0].code == "C150"
        return
    if value.startswith("f") and not out.startswith("f"):
        pytest.skip("C leaves what the conversion gives to the compiler where it does not fit")
    _agree(source, C_NAMES[out], C_NAMES[value], tmp_path)


@pytest.mark.parametrize("bits", [8, 16])
def test_default_schedules_count_in_small_integers(bits: int) -> None:
    head = f"#include <stdint.h>\nvoid f(uint{bits}_t h[7], const int b[99])"
    text = head + " { for (int i = 0; i < 99; i++) h[b[i]]++; }"
    kernel = mdh.compile(Source("input.c", text), device="opencl:0")
    b = np.arange(99, dtype=np.int32) % 7
    h = np.zeros(7, f"uint{bits}")
    kernel(h, b)
    np.testing.assert_array_equal(h, np.bincount(b))
