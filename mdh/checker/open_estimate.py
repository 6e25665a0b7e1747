"""What the cost model says of a plan with open sizes at values of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mdh.cost.predict import predict
from mdh.decompose.tiles import decompose, with_tiles
from mdh.frontend.open_program import closed
from mdh.ir.plan import Plan, PlanStep, StagePlan


def seconds_at(plan: Plan, sizes: Mapping[str, int]) -> float:
    """The time of the kernels, without that of starting them, which is the same for most plans."""
    found = predict(_at(plan, sizes))
    return max(found.seconds - dict(found.terms)["launch"], 0.0)


def _at(plan: Plan, sizes: Mapping[str, int]) -> Plan:
    """The plan as its kernels run at these sizes: the outermost split of each open dimension has as many
    parts as the sizes give, and a single part that is longer than the dimension counts whole."""
    if not plan.program.opens:
        return plan
    cpu = plan.machine.kind == "cpu"
    stages = tuple(_stage_at(stage, sizes, cpu=cpu) for stage in plan.stages)
    program, computed = closed(plan.program, sizes), closed(plan.computed, sizes)
    return replace(plan, program=program, computed=computed, stages=stages)


def _stage_at(plan: StagePlan, sizes: Mapping[str, int], *, cpu: bool) -> StagePlan:
    program = closed(plan.program, sizes)
    stage = next(s for s in program.stages if s.name == plan.stage.name)
    steps = _steps_at(plan.steps, sizes, cpu=cpu)
    there = replace(plan, program=program, stage=stage, steps=steps)
    return with_tiles(there, decompose(program, there, cpu=cpu))


def _steps_at(steps: Sequence[PlanStep], sizes: Mapping[str, int], *, cpu: bool) -> tuple[PlanStep, ...]:
    out = [list(step.splits) for step in steps]
    for d in range(len(out[0])) if out else ():
        at = next((n for n, splits in enumerate(out) if splits[d].open is not None), None)
        if at is None:
            continue
        extent = out[at][d].open
        left = extent.at(sizes) if extent is not None else 0
        out[at][d] = replace(out[at][d], parent=left, open=None)
        for splits in out[at + 1 :]:
            left = min(left, splits[d].parent)
            if cpu and splits[d].tile > 1:
                # loops end with the dimension; what is unrolled goes on to its own end
                splits[d] = replace(splits[d], parent=left)
    return tuple(replace(step, splits=tuple(s)) for step, s in zip(steps, out, strict=True))
