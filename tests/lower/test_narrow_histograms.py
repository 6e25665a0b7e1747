"""Histograms stored in 16 bits and held in 32: summed in the wider type, converted once, always."""

import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.pairs import arguments, execute

SUMS = (
    "void f({t} H[7], const {t} w[99], const int b[99]) {{ for (int i = 0; i < 99; i++) H[b[i]] += w[i]; }}"
)
LARGEST = (
    "void f({t} H[7], const {t} w[99], const int b[99]) {{"
    " for (int i = 0; i < 99; i++) if (w[i] > H[b[i]]) H[b[i]] = w[i]; }}"
)
FORMS = {
    "counts": "void f({t} H[7], const int b[99]) {{ for (int i = 0; i < 99; i++) H[b[i]] += 1; }}",
    "started": SUMS.replace("{{", "{{ for (int k = 0; k < 7; k++) H[k] = 0;", 1),
    "rows": "void f({t} H[5][7], const {t} w[5][99], const int b[5][99]) {{ for (int r = 0; r < 5; r++)"
    " for (int i = 0; i < 99; i++) H[r][b[r][i]] += w[r][i]; }}",
    "largest": LARGEST,
}
SCHEDULES = {
    "one unit": "1: (de-)comp( 9 ) ( ^,^ ; ^ ) ( ^ )",
    "private": "1: (de-)comp( 9 ) ( ^,^ ; H:SM[1] ) ( ^ )",
    "blocks": "1: (de-)comp( 20 ) ( ^,^ ; ^ ) ( BLK.x )",
    "private in blocks": "1: (de-)comp( 20 ) ( ^,^ ; ^ ) ( BLK.x )\n"
    "2: (de-)comp( 10 ) ( ^,^ ; H:SM[1] ) ( THR.x )",
    "a copy a block": "1: (de-)comp( 20 ) ( ^,^ ; ^@combine(kernel) ) ( BLK.x )\n"
    "2: (de-)comp( 10 ) ( ^,^ ; H:SM[1] ) ( THR.x )",
}
TYPES = ("_Float16", "__bf16")
CASES = [(text, "") for text in FORMS.values()] + [(SUMS, schedule) for schedule in SCHEDULES.values()]
NAMES = [*FORMS, *SCHEDULES]


def planned(text: str, schedule: str, machine: str, *, strict: bool = False) -> Plan:
    program = read_program(Source("f.c", text), strict_fp=strict)
    model = load_machine(machine)
    target = "cuda" if machine == "h200" else "opencl"
    default = default_schedule(program, model, target)
    given = parse_schedule(Source("f.mdh", schedule)) if schedule else default
    return check(program, given, model, target, default=default)


def run(plan: Plan, device: str, seed: int) -> None:
    outcome = execute(plan, open_device(device), arguments(plan.program, {"b": 7}, seed), {})
    assert outcome.kind == "equal", outcome.detail


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize(("text", "schedule"), CASES, ids=NAMES)
def test_results(text: str, schedule: str, ctype: str) -> None:
    plan = planned(text.format(t=ctype), schedule, "generic-cpu")
    for seed in (2, 3):
        run(plan, "opencl:0", seed)


@pytest.mark.parametrize("name", ["", "blocks", "private in blocks", "a copy a block"])
def test_no_races(name: str) -> None:
    run(planned(SUMS.format(t="_Float16"), SCHEDULES.get(name, ""), "oclgrind"), "oclgrind", 3)


@pytest.mark.parametrize("text", FORMS.values(), ids=list(FORMS))
def test_strict(text: str) -> None:
    plan = planned(text.format(t="_Float16"), "", "generic-cpu", strict=True)
    run(plan, "opencl:0", 3)


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize(("text", "schedule"), CASES, ids=NAMES)
def test_compiles_for_cuda(text: str, schedule: str, ctype: str) -> None:
    plan = planned(text.format(t=ctype), schedule, "h200")
    module = lower(plan)
    assert module.workspaces, "sums are held in 32 bits"
    assert compile_cubin(emit(module, plan.program), "sm_90a").warnings == ()


def test_a_count_beyond_what_16_bits_hold_exactly() -> None:
    """4000 times one is 4000, though a half that is rounded each time stays at 2048."""
    text = FORMS["counts"].format(t="_Float16").replace("99", "4000")
    plan = planned(text, "", "generic-cpu")
    arrays = arguments(plan.program, {"b": 1}, 2)
    arrays["H"][:] = 0
    assert execute(plan, open_device("opencl:0"), arrays, {}).kind == "equal"


@pytest.mark.parametrize("ctype", ["float", *TYPES])
@pytest.mark.parametrize("schedule", ["blocks", "private in blocks"])
def test_the_best_so_far_at_an_index_that_is_data_is_not_split(ctype: str, schedule: str) -> None:
    with pytest.raises(Failed) as failed:
        planned(LARGEST.format(t=ctype), SCHEDULES[schedule], "h200")
    assert {d.code for d in failed.value.diagnostics} == {"K142"}
