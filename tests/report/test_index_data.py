"""Random index arrays keep every subscript inside; only a subscript that lies outside is refused."""

from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.reference import evaluate
from mdh.source import Source
from mdh.verify.arguments import make_arrays
from mdh.verify.index_data import check_indices
from tests.support.native import compiler, run_native

VALUES = (
    ("x[k[i]]", 64), ("x[k[i] & 15]", 16), ("x[k[i] - 100]", 50), ("k[i] >= 0 ? x[k[i]] : 0", 50),
    ("x[k[i] + l[i]]", 50), ("x[k[l[i]]]", 50), ("x[2 * k[i] + i]", 400), ("k[i] > 3 && x[k[i] - 4] > 0", 20),
    ("x[(k[i] * 7 + 3) % 20]", 20), ("x[k[i] >> 2]", 20), ("k[i] < 0 || k[i] >= 20 ? 0 : x[k[i]]", 20),
    ("(unsigned)k[i] < 20 ? x[k[i]] : 1", 20), ("x[k[i] - l[i]]", 30), ("k[i] == i ? x[k[i]] : 0", 30),
    ("i > 3 && k[i] >= i ? x[k[i] - i] : 2", 9), ("x[k[i] * 0 + 3] + x[l[i] - 5]", 7),
)  # fmt: skip


def gather(value: str, extent: int, kind: str = "int") -> Source:
    head = f"void f(const float x[{extent}], const {kind} k[100], const int l[100], float y[100])"
    return Source("f.c", f"#include <stdint.h>\n{head} {{ for (int i = 0; i < 100; i++) y[i] = {value}; }}")


@pytest.mark.parametrize(("value", "extent"), VALUES)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_indices_stay_inside(value: str, extent: int, seed: int, tmp_path: Path) -> None:
    source = gather(value, extent)
    program = read_program(source)
    arrays = make_arrays(program, {}, seed, "exact")
    check_indices(program, arrays, {})
    got = evaluate(program, arrays, {})
    if compiler() is not None:
        want = run_native(source, program, tmp_path, {}, arrays)
        assert (got["y"] == want["y"]).all()


@pytest.mark.parametrize("kind", ["int8_t", "uint8_t", "uint16_t", "int64_t", "unsigned"])
@pytest.mark.parametrize("value", ["x[k[i] & 15]", "k[i] > 2 ? x[k[i] - 3] : 0", "x[k[i]]"])
def test_every_type_of_index(kind: str, value: str) -> None:
    program = read_program(gather(value, 40, kind))
    arrays = make_arrays(program, {}, 3, "random")
    check_indices(program, arrays, {})
    evaluate(program, arrays, {})


def test_a_guard_is_tried_on_both_sides() -> None:
    program = read_program(gather("k[i] >= 0 ? x[k[i]] : 0", 50))
    k = make_arrays(program, {}, 1, "exact")["k"]
    assert k.min() < 0 <= k.max() < 50


def _outside(program: Program, k: list[int]) -> str:
    arrays = make_arrays(program, {}, 1, "exact")
    arrays["k"][: len(k)] = k
    try:
        check_indices(program, arrays, {})
    except Failed as failed:
        return failed.diagnostics[0].headline
    return ""


@pytest.mark.parametrize(("value", "inside", "outside"), [
    ("x[k[i] & 15]", [-1, 2**31 - 1, 400], []),
    ("x[k[i] & 63]", [-64, 79], [17, -1]),
    ("x[k[i] - 100]", [100, 115], [99, 116, 0]),
    ("k[i] >= 0 ? x[k[i]] : 0", [-5, 15], [16]),
    ("k[i] >= 0 && k[i] < 16 ? x[k[i]] : 0", [-5, 16, 10**9], []),
])  # fmt: skip
def test_only_subscripts_that_lie_outside_are_refused(
    value: str, inside: list[int], outside: list[int]
) -> None:
    program = read_program(gather(value, 16))
    assert _outside(program, inside) == ""
    for k in outside:
        assert "lies outside dimension 1 of `x`, which has 16 elements" in _outside(program, [k])


def test_calls_from_python(tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler")
    (tmp_path / "f.c").write_text(gather("k[i] >= 0 ? x[k[i] & 31] : x[l[i]]", 16).text, encoding="utf-8")
    kernel = mdh.compile(str(tmp_path / "f.c"), device="c")
    x, y = np.arange(16, dtype=np.float32), np.zeros(100, np.float32)
    k, l_ = np.arange(100, dtype=np.int32) % 16 + 32, np.full(100, 900, np.int32)
    kernel(x, k, l_, y)
    assert (y == np.arange(100) % 16).all()
    k[7], l_[7] = -3, 5
    kernel(x, k, l_, y)
    assert y[7] == 5
    l_[7] = 16
    with pytest.raises(Failed) as failed:
        kernel(x, k, l_, y)
    assert failed.value.diagnostics[0].code == "A130"
