"""Eight programs of different classes, on a GPU and on a CPU: plans whose texts are kept as goldens."""

from mdh.check.run import check
from mdh.frontend.c import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.corpus import WORKLOADS
from tests.source_tree import ROOT

MACHINES = {"h200": "cuda", "generic-cpu": "c"}
_GIVEN = {"jacobi3d": "jacobi3d.h200.window.mdh"}
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
