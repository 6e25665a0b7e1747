"""`mdh check`: legality of a schedule, offline."""

from dataclasses import replace
from pathlib import Path

import typer

from mdh.checker.subject import at
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import keep_inputs, moved, write_text
from mdh.cli.job import load_program, load_schedule, make_plan, plan_for_machine, say_default, schedule_words
from mdh.cli.options import Request
from mdh.cli.trace import STAGES, Trace
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.pipeline import Checked

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def check(
    ctx: typer.Context,
    file: opt.FileArg,
    schedule: opt.ScheduleOpt = None,
    machine: opt.MachineOpt = None,
    device: opt.MachineAtHandOpt = None,
    target: opt.TargetOpt = None,
    define: opt.DefineOpt = None,
    set_: opt.SetOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    deterministic: opt.DeterministicOpt = False,
    output: opt.OutScheduleOpt = None,
    json: opt.JsonOpt = False,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Prove a schedule legal for a program and a machine. No device is needed."""
    line: CommandLine = ctx.obj
    request = Request(
        line, file, schedule, target, machine, device, tuple(define or ()), tuple(set_ or ()), function,
        strict_fp, deterministic, tuple(allow or ()),
    )  # fmt: skip
    trace = Trace.of(line, tuple(dump or ()), time, STAGES[:3])
    _, checked = plan_for_machine(request, trace)
    if schedule is not None:
        # read again by its new path: the remark about the old one was given
        _check_sizes(replace(request, schedule=moved(schedule)), checked.plan)
        say_default(checked, output, schedule)
    if output is not None:
        keep_inputs(line, output, request.files, {Path(output): checked.plan.text})
        write_text(line, output, checked.plan.text)
        log(f"wrote {output}")
    if json:
        show_json(_as_json(checked))
    else:
        show(_text(checked))


def _check_sizes(request: Request, plan: Plan) -> None:
    """Raises Failed if the schedule is illegal at the sizes of its `for` and `small` lines for this program
    and machine. Does nothing with --set, because those lines were written for other values of its holes."""
    given, name = load_schedule(request, Trace()), plan.machine.name
    if given is None or request.sets:
        return
    for header in given.sizes:
        machines = header.machines or (given.target or name,)
        if header.program not in (None, plan.program.name) or name not in machines:
            continue
        sizes = dict(header.sizes)
        others = (word for word in request.defines if word.partition("=")[0] not in sizes)
        there = replace(request, defines=(*others, *(f"{size}={n}" for size, n in sizes.items())))
        try:
            make_plan(there, Trace(), load_program(there, Trace()), given, plan.machine, plan.target)
        except Failed as failed:
            here = at(header.span, "at these sizes")
            raise Failed(*(replace(d, labels=(*d.labels, *here)) for d in failed.diagnostics)) from failed


def _text(checked: Checked) -> str:
    plan = checked.plan
    steps = sum(len(s.steps) for s in plan.stages)
    what = schedule_words(checked)
    names = ", ".join(s.stage.name for s in plan.stages)
    return (
        f"ok: {what} of {plan.program.name} (stages {names}; {steps} steps) is legal on "
        f"{plan.machine.name}, {plan.target}\n"
    )


def _as_json(checked: Checked) -> dict[str, object]:
    plan = checked.plan
    return ok(
        "check",
        program=plan.program.name,
        machine=plan.machine.name,
        target=plan.target,
        default=bool(checked.derived),
        default_stages=list(checked.derived),
        stages=[{"name": s.stage.name, "steps": len(s.steps)} for s in plan.stages],
        schedule=plan.text,
    )
