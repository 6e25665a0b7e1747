"""Warnings of performance: shipped schedules have true ones alone, remedies are legal, pages are right."""

import re
import textwrap
from dataclasses import replace
from functools import cache

import pytest

from mdh.checker.performance import RULES, findings_of
from mdh.checker.performance.weighed import Finding, Weighed
from mdh.checker.run import check
from mdh.diagnostics import Failed, Severity
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.report.pages import page_codes, page_of
from mdh.schedule.binding import bind
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.corpus import WORKLOADS, Shipped, Sizes, schedules
from tests.support.pairs import planned
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule

PRODUCT = (
    "void f(const float A[2048][2048], const float B[2048][2048], float C[2048][2048]) {"
    " for (int i = 0; i < 2048; i++) for (int j = 0; j < 2048; j++) for (int k = 0; k < 2048; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)
TRUE = {
    # two large blocks for the two cores that they were measured on, and the machine file has eight
    "conv2d_56/generic-cpu/large": {"P102"},
    "conv2d_56/generic-cpu/large.avx512": {"P102"},
    "matmul/generic-cpu/row": {"P102"},
    "matmul/generic-cpu/rows": {"P102"},
    # the tiles of larger products, at sizes that make 64 or 32 blocks of them
    "matmul/a100/base": {"P102"},
    "matmul/h200/base": {"P102"},
    "matmul/h200/open": {"P102"},
    "matmul_bias_relu/h200/base": {"P102"},
    # a thread a row: 64 blocks of two warps
    "matvec/h200/staged": {"P102", "P107"},
}
"""Shipped schedules that waste something at the sizes of their headers, on some of their machines."""
MACHINES = (("h100", "cuda"), ("v100", "opencl"), ("generic-cpu", "opencl"), ("generic-cpu", "c"))


@cache
def _program(name: str, sizes: Sizes) -> Program:
    return read_program(WORKLOADS[name].source, defines=dict(sizes))


def _planned(program: Program, schedule: Schedule, machine: str, target: str = "") -> Plan:
    chosen = load_machine(machine)
    target = target or chosen.targets[0]
    return planned(program, schedule, chosen, target)


@pytest.mark.parametrize("shipped", schedules(), ids=[s.name for s in schedules()])
def test_shipped_schedules_have_true_warnings_alone(shipped: Shipped) -> None:
    found: set[str] = set()
    for use in shipped.uses:
        for machine in use.machines:
            schedule = bind(parse_schedule(shipped.source), dict(use.sets))
            plan = _planned(_program(use.program, use.sizes), schedule, machine)
            found |= {f.diagnostic.code for f in findings_of(plan)}
    assert found == TRUE.get(shipped.name, set())


def _all_findings(plan: Plan) -> list[Finding]:
    """Also of stages that are too short for warnings."""
    given = parse_schedule(Source("schedule", plan.text))
    written = [n for n, stage in enumerate(plan.stages) if any(step.span for step in stage.steps)]
    stages = [Weighed(plan, n, given) for n in written]
    return [f for stage in stages for rule in RULES for f in rule(stage)]


@pytest.mark.parametrize("first", range(0, 120, 10))
def test_random_schedules(first: int) -> None:
    """No rule fails, each warning has its parts, and each remedy makes a legal schedule."""
    for seed in range(first, first + 10):
        program = read_program(random_program(seed).source)
        for machine, target in MACHINES:
            text = Source("s.mdh", random_schedule(program, load_machine(machine), seed))
            try:
                plan = _planned(program, parse_schedule(text), machine, target)
            except Failed:
                continue
            for found in _all_findings(plan):
                d = found.diagnostic
                assert d.severity is Severity.WARNING and d.labels and d.help
                assert d.labels[0].span.source is text
                if found.remedy is not None:
                    _planned(program, _remedied(plan, found), machine, target)


def _remedied(plan: Plan, found: Finding) -> Schedule:
    given = parse_schedule(Source("schedule", plan.text))
    assert found.remedy is not None
    sections = []
    for section in given.sections:
        steps = section.steps
        if section.name in (None, found.stage):
            changed = found.remedy.applied(steps)
            assert changed is not None
            steps = changed
        sections.append(replace(section, steps=steps))
    return Schedule(tuple(sections))


@pytest.mark.parametrize("code", [c for c in page_codes() if c.startswith("P")])
def test_example_of_a_page_is_warned_of(code: str) -> None:
    page = page_of(code) or ""
    example, machine = re.search(r"(?:^ {4}.*\n)+", page, re.MULTILINE), re.search(r"such as `(.+?)`", page)
    assert example and machine
    schedule = parse_schedule(Source("schedule.mdh", textwrap.dedent(example[0])))
    plan = _planned(read_program(Source("f.c", PRODUCT)), schedule, machine[1])
    assert code in {f.diagnostic.code for f in findings_of(plan)}


@pytest.mark.parametrize("machine", ["h100", "generic-cpu"])
def test_derived_schedules_have_no_warnings(machine: str) -> None:
    program, chosen = read_program(Source("f.c", PRODUCT)), load_machine(machine)
    target = chosen.targets[0]
    plan = check(program, default_schedule(program, chosen, target), chosen, target)
    assert findings_of(plan) == ()


def test_short_stages_have_no_warnings() -> None:
    text = "void f(const float A[4096], float B[4096]) { for (int i = 0; i < 4096; i++) B[i] = 2 * A[i]; }"
    steps = "1: (de-)comp( 512 ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 8 ) ( ^ ; ^ ) ( THR.x )\n"
    plan = _planned(read_program(Source("f.c", text)), parse_schedule(Source("s.mdh", steps)), "h100")
    assert "P107" in {f.diagnostic.code for f in _all_findings(plan)}
    assert findings_of(plan) == ()
