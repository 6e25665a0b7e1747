"""Bounds of the interpreter: what a compiler makes and any order of a sum lie inside, wrong sums outside."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.ir.syntax import Declaration, ForStatement
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.error import Bounded
from mdh.reference.interpreter import Undecided, interpret_bounded, interpret_elements
from mdh.source import Source
from tests.interpreter.c_functions import native, random_function, syntax_of
from tests.lower.test_strict_order import FORMS
from tests.support.arrays import random_arrays
from tests.support.corpus import WORKLOADS, Sizes, Workload
from tests.support.native import compiler, knows, run_native
from tests.support.pairs import arguments, difference
from tests.support.random_programs import EIGHTHS_FROM, random_program

SMALL = [(w, sizes) for w in WORKLOADS.values() for sizes in (w.small[0], w.small[-1])]
SMALL_IDS = [f"{w.name}-{'x'.join(str(v) for _, v in sizes)}" for w, sizes in SMALL]


def scalars_of(program: Program, given: Mapping[str, float]) -> dict[str, Any]:
    return {s.name: given.get(s.name, s.size) for s in program.scalars}


def slack(b: Bounded) -> np.ndarray:
    return np.broadcast_to(b.slack, b.value.shape)


def judged(program: Program, arrays: dict[str, np.ndarray], scalars: dict[str, Any]) -> dict[str, Bounded]:
    assert program.syntax is not None
    return interpret_bounded(program.syntax, arrays, scalars, strict=program.strict_fp)


def agree(mine: Mapping[str, Bounded], reference: Mapping[str, Bounded]) -> None:
    """The two judges' values lie within their bounds together, and the bounds are of one order."""
    assert mine.keys() == reference.keys()
    for name, found in mine.items():
        other = reference[name]
        with np.errstate(all="ignore"):
            off = np.abs(found.value.astype(float) - other.value.astype(float))
            assert (~(off > slack(found) + slack(other))).all(), name
        both = (slack(found) > 0) & (slack(other) > 0) & np.isfinite(slack(other))
        if both.any():
            assert np.isfinite(slack(found)).all()
            assert np.median(slack(found)[both] / slack(other)[both]) < 12, name


@pytest.mark.parametrize("kind", ["exact", "random"])
@pytest.mark.parametrize(("work", "sizes"), SMALL, ids=SMALL_IDS)
def test_shipped_inputs(work: Workload, sizes: Sizes, kind: Any, tmp_path: Path) -> None:
    program = read_program(work.source, defines=dict(sizes))
    below = {array: dict(sizes)[size] for array, size in work.below.items()}
    arrays, scalars = random_arrays(program, 1, kind, below), scalars_of(program, work.scalars)
    mine = judged(program, arrays, scalars)
    agree(mine, evaluate_bounded(program, arrays, scalars, exact=kind == "exact"))
    if kind == "exact" or compiler() is None or ("__bf16" in work.source.text and not knows("__bf16")):
        return
    native = run_native(work.source, program, tmp_path, dict(sizes), arrays, work.scalars)
    for name, array in native.items():
        assert difference(name, array, mine[name]) is None


@pytest.mark.parametrize("seed", [*range(60), *range(EIGHTHS_FROM, EIGHTHS_FROM + 30)])
def test_random_programs(seed: int, tmp_path: Path) -> None:
    random = random_program(seed)
    program = read_program(random.source)
    arrays, scalars = arguments(program, random.below, seed), scalars_of(program, random.scalars)
    mine = judged(program, arrays, scalars)
    agree(mine, evaluate_bounded(program, arrays, scalars, exact=seed % 2 == 0))
    if compiler() is not None:
        for name, array in run_native(random.source, program, tmp_path, {}, arrays, random.scalars).items():
            assert difference(name, array, mine[name]) is None, random.text


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
@pytest.mark.parametrize("family", ["integers", "floats", "halves"])
def test_random_expressions(family: str, tmp_path: Path) -> None:
    if family == "halves" and not knows("_Float16"):
        pytest.skip("no compiler here that has the type")
    decided = 0
    for seed in range(100, 112):
        text, arrays = random_function(seed, family, 2)
        try:
            found = interpret_bounded(syntax_of(text), arrays, {})
        except Undecided:
            continue
        decided += 1
        folder = tmp_path / str(seed)
        folder.mkdir()
        want = native(text, arrays, folder)
        assert [difference(name, want[name], b) for name, b in found.items()] == [None] * len(found), text
    assert decided > 3


DOT = """
void f(int n, const float a[n], const float b[n], float s[1]) {
  s[0] = 0;
  for (int i = 0; i < n; i++) s[0] += a[i] * b[i];
}
"""


@pytest.mark.parametrize("count", [2, 5, 30, 100, 2000])
@pytest.mark.parametrize("data", ["uniform", "equal", "two values"])
def test_any_order_of_a_sum_is_inside(count: int, data: str) -> None:
    rng = np.random.default_rng(count)
    a, b = (rng.uniform(-1, 1, count).astype(np.float32) for _ in range(2))
    if data != "uniform":
        a[:], b[:] = 0.1, 0.7
    if data == "two values":
        a[::2] = 0.3
    arrays = {"a": a, "b": b, "s": np.zeros(1, np.float32)}
    found = interpret_bounded(syntax_of(DOT), arrays, {"n": count})["s"]
    products = [a * b, (a.astype(float) * b).astype(np.float64)]
    for terms in products:
        for order in (np.arange(count), np.arange(count)[::-1], np.argsort(terms), rng.permutation(count)):
            total = np.float32(0)
            for term in terms[order]:
                # in double: the product is not rounded, as in a fused multiply-add
                total = np.float32(np.float64(total) + np.float64(term))
            assert difference("s", np.array([total]), found) is None
    lanes = np.add.reduce((a * b)[: count // 4 * 4].reshape(-1, 4), axis=0)
    assert count % 4 or difference("s", np.array([np.float32(lanes.sum())]), found) is None


@pytest.mark.parametrize("count", [5, 100, 1000])
def test_a_term_left_out_is_outside(count: int) -> None:
    rng = np.random.default_rng(count)
    a, b = (rng.uniform(-1, 1, count).astype(np.float32) for _ in range(2))
    found = interpret_bounded(syntax_of(DOT), {"a": a, "b": b, "s": np.zeros(1, np.float32)}, {"n": count})[
        "s"
    ]
    terms = a.astype(float) * b
    missing = np.abs(terms) > 0.01
    assert missing.mean() > 0.9
    assert (np.abs(terms.sum() - terms[missing] - found.value) > slack(found)).all()


def one(text: str, **arrays: Any) -> Bounded:
    """What `y` holds after the function."""
    held = {k: np.asarray(v) for k, v in arrays.items()}
    names = ", ".join(f"{_ctype(v)} {k}[{v.size}]" for k, v in held.items())
    return interpret_bounded(syntax_of(f"void f({names}) {{ {text} }}"), held, {})["y"]


def _ctype(v: np.ndarray) -> str:
    return {"f4": "float", "f8": "double", "i4": "int", "f2": "_Float16"}[v.dtype.str[1:]]


F = np.float32
Y = np.zeros(1, F)
X = np.array([0.1, 0.3, -0.7], F)


@pytest.mark.parametrize(
    "text",
    [
        "if (x[0] * 3 > x[0] + x[0] + x[0]) y[0] = 1;",
        "y[0] = x[0] * 3 == x[1] ? 1 : 2;",
        "y[0] = (int)(x[0] / x[0]);",
        "y[0] = floorf(x[0] / x[0]);",
        "y[0] = !(x[0] * 3 - (x[0] + x[0] + x[0]));",
        "for (float t = x[0]; t < x[0] * 10; t += x[0]) y[0] += 1;",
    ],
)
def test_undecided(text: str) -> None:
    with pytest.raises(Undecided) as found:
        one(text, x=X, y=Y)
    assert found.value.place is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y[0] = (int)(x[0] * 25);", 2),
        ("y[0] = roundf(x[2] * 10);", -7),
        ("y[0] = x[0] < x[1];", 1),
        ("y[0] = 3; for (int i = 0; i < 100; i++) y[0] += i * 0.25f;", 3 + 99 * 25 / 2),
        ("y[0] = 1; for (int i = 1; i < 8; i++) y[0] *= i;", 5040),
        ("float m = x[0]; if (x[1] > m) m = x[1]; y[0] = m < x[2] ? x[2] : m;", float(F(0.3))),
        ("y[0] = 1.0f / 0.0f;", np.inf),
        ("y[0] = NAN > 1 ? 2 : NAN < 1 ? 3 : 4;", 4),
        ("y[0] = fmaxf(NAN, x[1]);", float(F(0.3))),
        ("y[0] = 0.1;", float(F(0.1))),
        ("y[0] = 0 * x[0] * (x[1] + x[2]);", 0),
        ("y[0] = 0 * x[0] / 0.0f > 1;", 0),
    ],
)
def test_what_is_certain_carries_no_bound(text: str, value: float) -> None:
    found = one(text, x=X, y=Y)
    assert found.value[0] == value and found.bound is None


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (
            "float m = -1; for (int i = 0; i < 3; i++) m = x[i] * x[i] > m ? x[i] * x[i] : m; y[0] = m;",
            1e-7,
        ),
        ("float m = -1; for (int i = 0; i < 3; i++) if (x[0] * 3 > m) m = x[0] * 3; y[0] = m;", 1e-7),
        ("y[0] = expf(x[0]) * sqrtf(x[1]);", 1e-6),
        ("y[0] = x[0] - x[1];", 2e-8),
        ("double d = 1.0 / 3; y[0] = d;", 4e-8),
        ("y[0] = fmaf(x[0], x[1], x[2]);", 2e-7),
        ("y[0] = tanhf(x[2]) / (x[0] + x[1]);", 3e-6),
    ],
)
def test_bounds_are_tight(text: str, most: float) -> None:
    found = one(text, x=X, y=Y)
    assert found.bound is not None and 0 < found.bound[0] < most


def test_halves_are_summed_in_float_or_rounded_where_c_says() -> None:
    x = np.linspace(0.5, 1, 60).astype(np.float16)
    text = "for (int i = 0; i < 60; i++) y[0] += x[i];"
    found = one(text, x=x, y=np.zeros(1, np.float16))
    want = x.astype(float).sum()
    assert found.bound is not None and abs(found.value[0] - want) < 1e-9
    assert want * 2.0**-11 <= found.bound[0] < want * 2.0**-10
    stepwise = np.float16(0)
    for v in x:
        stepwise = np.float16(np.float32(stepwise) + np.float32(v))
    held = {"x": x, "y": np.zeros(1, np.float16)}
    text = f"void f(_Float16 x[60], _Float16 y[1]) {{ {text} }}"
    strict = interpret_bounded(syntax_of(text), held, {}, strict=True)["y"]
    assert difference("y", np.array([stepwise]), strict) is None


class Rows:
    """The given values of the outermost loop, and all of the others."""

    def __init__(self, values: Sequence[int]) -> None:
        self.chosen = values
        self.seen: list[tuple[str, tuple[int, ...]]] = []

    def values(self, loop: ForStatement, outer: tuple[int, ...]) -> Sequence[int] | None:
        assert isinstance(loop.first, Declaration)
        self.seen.append((loop.first.name, outer))
        return None if outer else self.chosen

    @staticmethod
    def exact(loop: ForStatement) -> bool:
        return True


def test_chosen_iterations_alone() -> None:
    text = """
void f(const float A[1000][50], float y[1000]) {
  for (int i = 0; i < 1000; i++) {
    y[i] = 0;
    for (int j = 0; j < 50; j++) y[i] += A[i][j];
  }
}
"""
    rng = np.random.default_rng(0)
    arrays = {"A": rng.uniform(-1, 1, (1000, 50)).astype(F), "y": np.full(1000, np.nan, F)}
    rows = Rows([3, 999])
    function = syntax_of(text)
    found = interpret_elements(function, arrays, {}, only=rows)["y"]
    whole = interpret_bounded(function, arrays, {})["y"]
    assert rows.seen == [("i", ()), ("j", (3,)), ("j", (999,))]
    assert found.index.tolist() == [3, 999] and whole.bound is not None and found.bound is not None
    assert found.value.tolist() == whole.value[[3, 999]].tolist()
    assert found.bound.tolist() == whole.bound[[3, 999]].tolist()


def test_large_arrays_are_read_where_they_are() -> None:
    arrays = {"A": np.zeros((1 << 14, 1 << 14), F), "y": np.zeros(1 << 14, F)}
    head = "void f(const float A[16384][16384], float y[16384])"
    text = f"{head} {{ for (int i = 0; i < 16384; i++) y[i] = A[i][i] + 1; }}"
    found = interpret_elements(syntax_of(text), arrays, {}, only=Rows([16383]))["y"]
    assert found.value.tolist() == [1] and found.bound is None


@pytest.mark.parametrize("ctype", ["float", "_Float16", "__bf16"])
@pytest.mark.parametrize("form", FORMS)
def test_strict_programs(form: str, ctype: str) -> None:
    program = read_program(Source("f.c", FORMS[form].format(t=ctype)), strict_fp=True)
    arrays = random_arrays(program, 3, "random", {"b": 7})
    want, found = evaluate(program, arrays, {})["y"], judged(program, arrays, {})["y"]
    assert difference("y", want, found) is None
