"""Minima and maxima by comparison over NaNs: C's result, or that which passes over them, and no other."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr
from mdh.ir.program import Operator, Program
from mdh.lower import fold as lowered
from mdh.lower.run import lower
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.judge import INTERPRETER, expected
from mdh.report.entries import entries_of
from mdh.report.text import entries_text
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.verify.arguments import Guarded, guarded
from mdh.verify.verdict import fits, judge
from tests.lower.test_strict_order import planned
from tests.support.nan_cases import run_case
from tests.support.native import compiler, run_native

ROWS = "#include <math.h>\nvoid f(const {t} x[3][8], {t} y[3]) {{ for (int i = 0; i < 3; i++)" \
    " for (int j = 0; j < 8; j++) {update} }}"  # fmt: skip
KEEPS = "if (x[i][j] > y[i]) y[i] = x[i][j];"
TAKES = "y[i] = y[i] > x[i][j] ? y[i] : x[i][j];"
OPERATORS = {
    KEEPS: Operator("max"),
    "if (x[i][j] >= y[i]) y[i] = x[i][j];": Operator("max", "last"),
    "if (y[i] > x[i][j]) y[i] = x[i][j];": Operator("min"),
    "y[i] = x[i][j] <= y[i] ? x[i][j] : y[i];": Operator("min", "last"),
    TAKES: Operator("max", "last", takes=True),
    "y[i] = y[i] >= x[i][j] ? y[i] : x[i][j];": Operator("max", "first", takes=True),
    "y[i] = x[i][j] > y[i] ? y[i] : x[i][j];": Operator("min", "last", takes=True),
    "y[i] = x[i][j] >= y[i] ? y[i] : x[i][j];": Operator("min", "first", takes=True),
    "y[i] = fmaxf(x[i][j], y[i]);": Operator("max", nan=True),
}
DATA = np.array([[1, 5, np.nan, 2, 3, 0, 1, 1], [1, 2, 3, 4, 5, 6, 7, np.nan], [1] * 8], np.float32)
STARTS = np.array([0, 0, np.nan], np.float32)


def program(update: str, ctype: str = "float", *, strict: bool = False) -> Program:
    return read_program(Source("f.c", ROWS.format(t=ctype, update=update)), strict_fp=strict)


def verdict(p: Program, y: list[float]) -> list[str]:
    """The codes that the judge finds where a kernel leaves `y`, by either reference."""
    before = {"x": DATA, "y": STARTS}
    after: dict[str, Guarded] = {"x": guarded(DATA), "y": guarded(np.array(y, np.float32))}
    interpreted, vectorised = expected(p, before, {}), evaluate_bounded(p, before)
    assert interpreted.judge == INTERPRETER
    by = [[d.code for d in judge(p, before, after, want)] for want in (interpreted.want, vectorised)]
    assert by[0] == by[1]
    return by[0]


@pytest.mark.parametrize("update", OPERATORS)
def test_the_operator_says_what_c_keeps(update: str) -> None:
    assert program(update).stages[0].results[0].op == OPERATORS[update]


def test_integers_have_one_operator() -> None:
    for update in list(OPERATORS)[:-1]:
        op = program(update, "int").stages[0].results[0].op
        assert op is not None and op == Operator(op.name)


@pytest.mark.parametrize("update", OPERATORS)
def test_strict_results_are_those_of_c(tmp_path: Path, update: str) -> None:
    plan = planned(ROWS.format(t="float", update=update), "")
    arrays = {"x": DATA.copy(), "y": STARTS.copy()}
    open_device("opencl:0").build(emit(lower(plan), plan.program)).call(arrays, {}).launch()
    meaning = evaluate(plan.program, {"x": DATA, "y": STARTS})["y"]
    assert np.array_equal(arrays["y"], meaning, equal_nan=True)
    if compiler() is not None and plan.program.source is not None:
        inputs = {"x": DATA, "y": STARTS}
        want = run_native(plan.program.source, plan.program, tmp_path, {}, inputs, flags=("-O0",))["y"]
        assert np.array_equal(meaning, want, equal_nan=True)


def test_the_judge_takes_both_results_and_no_third() -> None:
    assert verdict(program(TAKES), [3, np.nan, 1]) == []
    assert verdict(program(TAKES), [5, 7, np.nan]) == []
    for y in ([2, 7, np.nan], [np.nan, 7, np.nan], [5, 6, np.nan], [5, 7, 0], [5, -np.inf, np.nan]):
        assert verdict(program(TAKES), list(y)) == ["N101"]
    assert verdict(program(KEEPS), [5, 7, np.nan]) == []
    for y in ([3, 7, np.nan], [5, np.nan, np.nan], [5, 7, 1]):
        assert verdict(program(KEEPS), list(y)) == ["N101"]
    assert verdict(program("y[i] = fmaxf(x[i][j], y[i]);"), [5, 7, 1]) == []
    assert verdict(program("y[i] = fmaxf(x[i][j], y[i]);"), [5, np.nan, 1]) == ["N101"]


def test_a_condition_leaves_c_and_the_passing_form_both_right() -> None:
    p = program(f"if (j != 7) {TAKES}")
    wanted = expected(p, {"x": DATA, "y": STARTS}, {}).want["y"]
    assert fits(np.array([3, 7, 1], np.float32), wanted).all()
    assert fits(np.array([5, 7, np.nan], np.float32), wanted).all()
    assert not fits(np.array([2, 6, 0], np.float32), wanted).any()


def test_with_strict_fp_the_judge_takes_cs_result_alone() -> None:
    assert verdict(program(TAKES, strict=True), [3, np.nan, 1]) == []
    assert verdict(program(TAKES, strict=True), [5, 7, np.nan]) == ["N101"]


@pytest.mark.parametrize("update", [KEEPS, TAKES])
def test_strict_comparisons_are_not_split(update: str) -> None:
    schedule = "1: (de-)comp( 1,^ ) ( ^ ; ^ ) ( BLK.x,^ )\n2: (de-)comp( ^,1 ) ( ^ ; y:RM[1] ) ( ^,THR.x )"
    with pytest.raises(Failed) as failed:
        planned(ROWS.format(t="float", update=update), schedule, "h200")
    assert {d.code for d in failed.value.diagnostics} == {"K132"}


@pytest.mark.parametrize("update", OPERATORS)
def test_strict_comparisons_compile_for_cuda(update: str) -> None:
    plan = planned(ROWS.format(t="_Float16", update=update), "", "h200")
    text = emit(lower(plan), plan.program)
    assert compile_cubin(text, "sm_90a").warnings == ()
    op = OPERATORS[update]
    if not op.nan:
        sign = (">" if op.name == "max" else "<") + "=" * ((op.tie == "last") != op.takes)
        assert f" {sign} " in text.source


def test_a_condition_around_what_takes_nans_is_refused() -> None:
    with pytest.raises(Failed) as failed:
        program(f"if (j != 3) {TAKES}", strict=True)
    assert [d.code for d in failed.value.diagnostics] == ["C150"]
    assert program(f"if (j != 3) {KEEPS}", strict=True)


def test_a_comparison_before_rounding_is_refused() -> None:
    text = (
        "void f(const double x[8], float y[1]) { for (int j = 0; j < 8; j++) if (x[j] > y[0]) y[0] = x[j]; }"
    )
    assert read_program(Source("f.c", text))
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text), strict_fp=True)
    assert [d.code for d in failed.value.diagnostics] == ["C150"]


Join = Callable[[Operator, DType, Expr, Expr], Expr]


def faulty(change: Callable[[Operator], Operator], *, ordered: bool) -> Callable[[Join], Join]:
    """Joins by another operator where points come in C's order, or where they do not."""

    def of(join: Join) -> Join:
        return lambda op, t, a, b: join(change(op) if op.ordered == ordered else op, t, a, b)

    return of


FAULTS = {
    "the other operand": (faulty(lambda op: replace(op, takes=not op.takes), ordered=True), 2),
    "the other tie": (faulty(lambda op: replace(op, tie="last" * (op.tie == "first")), ordered=True), 4),
    "a call for a comparison": (faulty(lambda op: replace(op, nan=True), ordered=False), 12),
    "a comparison for a call": (faulty(lambda op: replace(op, nan=False), ordered=False), 3),
    "a NaN gets in": (lambda join: lambda op, t, a, b: join(op, t, b, a), 4),
}


def test_explain_says_which_results_are_right() -> None:
    said = {KEEPS: "save one that it starts from, as in C", TAKES: "C's result, or that of the numbers alone"}
    for update, words in said.items():
        entries = entries_text(entries_of(program(update), program(update).stages[0]))
        assert "\n  NaN      max: " in entries
        assert words in entries
    assert "NaN" not in entries_text(entries_of(program(KEEPS, "int"), program(KEEPS, "int").stages[0]))
    strict = program(TAKES, strict=True)
    assert "compared in C's order" in entries_text(entries_of(strict, strict.stages[0]))


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("fault", FAULTS)
def test_the_random_cases_find_planted_faults(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    change, seed = FAULTS[fault]
    monkeypatch.setattr(lowered, "_extreme", change(lowered._extreme))
    assert run_case(seed, open_device("c"), 0)[1]


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("seed", [3, 5, 148, 5064])
@pytest.mark.parametrize("spec", ["c", "opencl:0"])
def test_random_cases(seed: int, spec: str) -> None:
    tally, wrong = run_case(seed, open_device(spec), 1)
    assert wrong == []
    assert tally["free"] > 0
