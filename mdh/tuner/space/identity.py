"""Tells which plans are the same program, so that different spellings are one point of the search."""

from hashlib import sha256

from mdh.hardware import Layer
from mdh.ir.plan import Plan, PlanStep, StagePlan


def identity(plan: Plan) -> str:
    """A digest of everything that decides the kernels: splits of more than one part, the order of loops,
    regions, attributes with an effect, and the stages that are inline. It is equal for `FOR.1` and `^` on one
    loop, and for a layer with one part and a loop."""
    stages = tuple(_stage(stage) for stage in plan.stages)
    inline = tuple(one.name for one in plan.inline)
    told = (plan.target, plan.machine.name, plan.deterministic, stages, *inline)
    return sha256(repr(told).encode()).hexdigest()


def _stage(stage: StagePlan) -> tuple[object, ...]:
    steps = [(i, _step(stage.steps[i])) for i in stage.code_order]
    telling = [i for i, step in steps if any(step)]
    text_order = tuple(sorted(telling).index(i) for i in telling)
    grid = stage.grid if stage.units(Layer.BLK) * stage.units(Layer.CLU) > 1 else None
    told = tuple(s for _, s in steps if any(s))
    roles = () if stage.roles is None else (stage.roles,)
    fused = (stage.fused,) if stage.fused else ()
    inner = tuple((x.step, _stage(x.plan)) for x in stage.inner)
    if stage.call is not None:
        return stage.stage.name, stage.call.library
    return stage.stage.name, text_order, told, grid, stage.combines, *roles, *fused, *inner


def _step(step: PlanStep) -> tuple[object, ...]:
    splits = sorted(
        (s for s in step.splits if s.parts > 1), key=lambda s: (s.layer is not None, s.rank, s.dim)
    )
    loops = any(s.layer is None for s in splits)
    cut = tuple((s.dim, s.parent, s.tile, s.layer, s.axis if s.layer else 0, s.cyclic) for s in splits)
    stages = step.stages if step.stages > 1 else 0
    unroll = ("" if step.unroll is None else str(step.unroll)) if loops else ""
    promote = () if step.promote is None else ("promote", step.promote)
    inflight = () if step.inflight is None else ("inflight", step.inflight)
    return cut, _shown(step.stagings), _shown(step.holdings), stages, unroll, *promote, *inflight


def _shown(entries: tuple[object, ...]) -> str:
    return repr(entries) if entries else ""
