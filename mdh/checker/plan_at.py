"""A plan of a program with open sizes, as it is at values of them."""

from collections.abc import Mapping
from dataclasses import replace

from mdh.frontend.open_program import closed
from mdh.ir.plan import Plan


def plan_at(plan: Plan, sizes: Mapping[str, int]) -> Plan:
    """The plan with what its program is at these sizes, for judges and reports. The steps stay those of the
    kernel for all sizes."""
    if not plan.program.opens:
        return plan
    stages = []
    for stage in plan.stages:
        program = closed(stage.program, sizes)
        mine = next(s for s in program.stages if s.name == stage.stage.name)
        stages.append(replace(stage, program=program, stage=mine))
    program, computed = closed(plan.program, sizes), closed(plan.computed, sizes)
    return replace(plan, program=program, computed=computed, stages=tuple(stages))
