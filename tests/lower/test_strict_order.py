"""--strict-fp, bit for bit: the start comes first, then one point after another, rounded as C rounds it."""

from pathlib import Path

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference import evaluate, evaluate_bounded
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.arrays import Arrays, random_arrays
from tests.support.native import compiler, knows, run_native

ROWS = (
    "void f(const {t} x[8][99], {t} y[8]) {{ for (int i = 0; i < 8; i++) {begin}"
    " for (int k = 0; k < 99; k++) "
)
FORMS = {
    "sum": ROWS.replace("{begin}", "") + "y[i] += x[i][k]; }}",
    "started": ROWS.replace("{begin}", "{{ y[i] = x[i][3];") + "y[i] += x[i][k]; }} }}",
    "constant": ROWS.replace("{begin}", "{{ {t} s = 0.1f;") + "s += x[i][k] * x[i][98 - k]; y[i] = s; }} }}",
    "product": ROWS.replace("{begin}", "") + "y[i] *= x[i][k]; }}",
    "prefix": "void f(const {t} x[99], {t} y[99]) {{ for (int i = 1; i < 99; i++) y[i] = y[i - 1] + x[i]; }}",
    "histogram": "void f(const {t} x[99], const int b[99], {t} y[7]) {{"
    " for (int i = 0; i < 99; i++) y[b[i]] += x[i]; }}",
}
PARTS = {
    "default": "",
    "inner": "1: (de-)comp( 3,^ ) ( ^ ; ^ ) ( FOR.1,^ )\n2: (de-)comp( 1,1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )",
    "between loops": "1: (de-)comp( ^,7 ) ( ^ ; ^ ) ( ^,FOR.1 )\n2: (de-)comp( 1,^ ) ( ^ ; ^ ) ( FOR.1,^ )\n"
    "3: (de-)comp( ^,1 ) ( ^ ; ^ ) ( ^,FOR.1 )",
    "tiles": "1: (de-)comp( 3,^ ) ( ^ ; ^ ) ( BLK.x,^ )\n2: (de-)comp( ^,7 ) ( ^ ; y:RM[1] ) ( ^,FOR.1 )\n"
    "3: (de-)comp( 1,1 ) ( ^ ; ^ ) ( FOR.2, FOR.1 )",
    "twice": "1: (de-)comp( ^,50 ) ( ^ ; y:RM[1] ) ( ^,FOR.1 )\n"
    "2: (de-)comp( 4,7 ) ( ^ ; y:RM[1] ) ( FOR.1,FOR.2 )\n3: (de-)comp( 1,1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )",
}
CASES = [(form, "") for form in FORMS] + [("sum", p) for p in PARTS if p != "default"]


def planned(text: str, schedule: str, machine: str = "generic-cpu") -> Plan:
    program = read_program(Source("f.c", text), strict_fp=True)
    model = load_machine(machine)
    target = "cuda" if machine == "h200" else "opencl"
    default = default_schedule(program, model, target)
    given = parse_schedule(Source("f.mdh", schedule)) if schedule else default
    return check(program, given, model, target, default=default)


def ran(plan: Plan, arrays: Arrays) -> np.ndarray:
    mine = {k: v.copy() for k, v in arrays.items()}
    open_device("opencl:0").build(emit(lower(plan), plan.program)).call(mine, {}).launch()
    return mine["y"]


def drawn(plan: Plan, seed: int) -> Arrays:
    arrays = random_arrays(plan.program, seed, "random", {"b": 7})
    if "*=" in (plan.program.source.text if plan.program.source else ""):
        arrays["x"] = (1 + arrays["x"] / 64).astype(arrays["x"].dtype)
    return arrays


@pytest.mark.parametrize("ctype", ["float", "_Float16", "__bf16"])
@pytest.mark.parametrize(("form", "parts"), CASES)
def test_bits_are_those_of_the_meaning(tmp_path: Path, form: str, parts: str, ctype: str) -> None:
    plan = planned(FORMS[form].format(t=ctype), PARTS[parts] if parts else "")
    arrays = drawn(plan, 5)
    got = ran(plan, arrays)
    assert got.tobytes() == evaluate(plan.program, arrays, {})["y"].tobytes()
    if compiler() is not None and knows(ctype):
        assert plan.program.source is not None
        want = run_native(plan.program.source, plan.program, tmp_path, {}, arrays)["y"]
        assert got.tobytes() == want.tobytes()
    bounded = evaluate_bounded(plan.program, arrays, {})["y"]
    slack = 0 if bounded.bound is None else bounded.bound
    assert (np.abs(got.astype(np.float64) - bounded.value) <= slack).all()


def test_a_half_that_counts_stays_at_2048() -> None:
    text = "void f(const int x[4000], _Float16 y[1]) { for (int k = 0; k < 4000; k++) y[0] += 1; }"
    plan = planned(text, "")
    arrays = drawn(plan, 2)
    arrays["y"][:] = 0
    assert ran(plan, arrays)[0] == 2048
    assert evaluate_bounded(plan.program, arrays, {})["y"].value[0] == 2048


@pytest.mark.parametrize(("form", "ctype"), [("constant", "_Float16"), ("histogram", "__bf16")])
def test_compiles_for_cuda(form: str, ctype: str) -> None:
    plan = planned(FORMS[form].format(t=ctype), "", "h200")
    assert compile_cubin(emit(lower(plan), plan.program), "sm_90a").warnings == ()


def test_partial_results_in_shared_memory_are_refused() -> None:
    schedule = "1: (de-)comp( 4,^ ) ( ^ ; y:SM[1] ) ( BLK.x,^ )"
    with pytest.raises(Failed) as failed:
        planned(FORMS["sum"].format(t="float"), schedule)
    assert {d.code for d in failed.value.diagnostics} == {"K132"}
