"""`--dump`: the value of any stage of the pipeline as text."""

from mdh.ir.affine import to_expr
from mdh.ir.expression_text import expression_text
from mdh.ir.kernel import Module
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind, Program, Result, Stage, component
from mdh.ir.tile_text import print_tiles
from mdh.pipeline import Value
from mdh.report.calls import call_text
from mdh.report.module_text import module_text
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
    if plan.inline:
        parts.append(program_text(plan.computed))
    for stage in plan.stages:
        parts += _tiles_text(stage)
    return "".join([*parts, plan.text])


def _tiles_text(plan: StagePlan) -> list[str]:
    """The tile tree of a kernel's stage, and those of the stages inside of it."""
    if plan.call is not None:
        return [f"stage {plan.stage.name}\n  {call_text(plan.call)}\n"]
    parts = [print_tiles(plan.tiles)]
    for x in plan.inner:
        first, *inside = _tiles_text(x.plan)
        head = f"stage {x.stage.name}, in {plan.stage.name} at step {plan.steps[x.step].label}"
        parts += [first.replace(f"stage {x.stage.name}", head, 1), *inside]
    return parts


def program_text(program: Program) -> str:
    lines = [f"program {program.name}({', '.join(program.params)})"]
    for b in program.buffers:
        shape = "".join(f"[{n}]" for n in b.shape)
        marks = [m for m, on in (("const", b.const), ("temporary", b.temp), ("flat", b.flat)) if on]
        lines.append(f"  buffer {b.name} {b.dtype}{shape}{' ' if marks else ''}{' '.join(marks)}")
    for s in program.scalars:
        lines.append(f"  scalar {s.name} {s.dtype}{'' if s.size is None else f' = {s.size}'}")
    for x in program.loops:
        names = f"{program.stages[x.first].name} … {program.stages[x.last].name}"
        c = "" if (x.start, x.step) == (0, 1) else f"  (C: {x.start} + {x.step} * {x.var})"
        where = "".join(f", {expression_text(to_expr(f))} >= 0" for f in x.where)
        lines.append(f"  loop {x.var} < {x.trips}{where} around {names}{c}")
    for stage in program.stages:
        lines.extend(_stage_lines(stage))
    return "\n".join(lines) + "\n"


def _stage_lines(stage: Stage) -> list[str]:
    lines = [f"  stage {stage.name}"]
    for d in stage.dims:
        loop = "" if (d.start, d.step) == (0, 1) else f"  (C: {d.start} + {d.step} * {d.name})"
        lines.append(f"    dim {d.name} < {d.extent} {d.kind}{loop}")
    lines.extend(f"    let {let.name}: {let.dtype} = {expression_text(let.value)}" for let in stage.lets)
    for result in stage.results:
        lines.extend(_result_lines(stage, result))
    return lines


def _result_lines(stage: Stage, result: Result) -> list[str]:
    kind = "map"
    if result.op is not None:
        scan = any(d.kind is DimKind.PS for d in stage.dims)
        kind = f"{'scan' if scan else 'reduce'}({result.op.name})"
    lines = []
    for c, (value, start, dtype) in enumerate(zip(result.values, result.starts, result.types, strict=True)):
        first = "" if start is None else f"  from {expression_text(start)}"
        lines.append(f"    {component(c)}: {dtype} = {kind} {expression_text(value)}{first}")
    for o in result.outputs:
        index = "".join(f"[{expression_text(i)}]" for i in o.index)
        lines.append(f"    {o.buffer}{index} = {expression_text(o.value)}")
    return lines
