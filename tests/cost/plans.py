"""Checked plans of shipped programs, for the tests of the model."""

from pathlib import Path

from mdh.checker.run import check
from mdh.cost.predict import predict
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

ROOT = Path(__file__).resolve().parents[2]


def plan_of(name: str, schedule: str | None = None, machine: str = "h200", **sizes: int) -> Plan:
    """schedule: text, or the name of a file under schedules/; None: the default one."""
    path = ROOT / "inputs_c" / f"{name}.c"
    program = read_program(Source(str(path), path.read_text(encoding="utf-8")), defines=sizes)
    device = load_machine(machine)
    target = device.targets[0]
    default = default_schedule(program, device, target)
    if schedule is None:
        return check(program, default, device, target)
    if schedule.endswith(".mdh"):
        schedule = (ROOT / "schedules" / schedule).read_text(encoding="utf-8")
    return check(program, parse_schedule(Source("test", schedule)), device, target, default=default)


def seconds(name: str, schedule: str | None = None, machine: str = "h200", **sizes: int) -> float:
    return predict(plan_of(name, schedule, machine, **sizes)).seconds
