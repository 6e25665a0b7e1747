"""`--dump`: the value of any stage of the pipeline as text."""

from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.ir.tile_text import print_tiles
from mdh.pipeline import Value
from mdh.report.module_text import module_text
from mdh.report.program_text import program_text
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.target.text import KernelText


def dump_text(value: Value) -> str:
    match value:
        case Program():
            return program_text(value)
        case Schedule():
            return print_schedule(value)
        case Plan():
            return _plan_text(value)
        case Module():
            return module_text(value)
        case KernelText():
            return value.source


def _plan_text(plan: Plan) -> str:
    parts = [f"plan of {plan.program.name} for {plan.machine.name}, {plan.target}\n"]
    for stage in plan.stages:
        parts.append(print_tiles(stage.tiles))
    return "".join([*parts, plan.text])
