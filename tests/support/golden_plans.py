"""Plans to print and to lower: eight programs of different classes, whose texts are kept as goldens, and
random programs with random schedules."""

from collections.abc import Iterator
from pathlib import Path

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.corpus import WORKLOADS
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import ROOT

MACHINES = {"h200": "cuda", "generic-cpu": "c"}
_GIVEN = {"jacobi3d": "jacobi3d/h200/window.mdh"}
"""A schedule whose buffer slides, for both machines; the other programs have their default schedules."""
PROGRAMS = ("matmul", "matvec", "conv2d", "prefix_sum", "histogram", "row_argmax", "softmax", *_GIVEN)


def plan_of(name: str, machine: str) -> Plan:
    work, target = WORKLOADS[name], MACHINES[machine]
    program = read_program(work.source, defines=dict(work.full))
    known = load_machine(machine)
    if name in _GIVEN:
        text = (ROOT / "schedules" / _GIVEN[name]).read_text(encoding="utf-8")
        return check(program, parse_schedule(Source(_GIVEN[name], text)), known, target)
    return check(program, default_schedule(program, known, target), known, target)


def random_plans(seed: int, *machines: tuple[str, str]) -> Iterator[Plan]:
    """Of one random program, a plan for each (machine, target) whose random schedule is legal."""
    try:
        program = read_program(random_program(seed).source)
    except Failed:
        return
    for machine, target in machines:
        known = load_machine(machine)
        try:
            schedule = parse_schedule(Source("s.mdh", random_schedule(program, known, seed)))
            yield check(program, schedule, known, target)
        except Failed:
            continue


def check_golden(text: str, path: Path, update: bool) -> None:
    if update:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
