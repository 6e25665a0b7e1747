"""`mdh check`: legality of a schedule, and what it wastes, offline."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from mdh.checker.subject import at
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine, Format
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import demand_own, keep_inputs, moved, read_schedule, write_text
from mdh.cli.formats import show_sarif
from mdh.cli.job import load_program, load_schedule, make_plan, plan_of, say_default, schedule_words
from mdh.cli.options import Request, Warned
from mdh.cli.tables import default_table, table_plans, table_text
from mdh.cli.trace import STAGES, Trace
from mdh.cli.values import parse_sets
from mdh.cli.warned import remedies, warn
from mdh.cli.watch import WATCH, watch
from mdh.diagnostics import Diagnostic, Failed, render_json
from mdh.fixing import Fixed, fixed
from mdh.ir.plan import InnerStage, Plan, StagePlan
from mdh.pipeline import Checked
from mdh.schedule.cases import Table, ranges_text, table_of
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule

app = typer.Typer(rich_markup_mode=None, add_completion=False)

FixOpt = Annotated[
    bool, typer.Option("--fix", help="Print the schedule, changed as warnings advise where that is legal.")
]
WatchOpt = Annotated[bool, typer.Option(WATCH, help="Check again whenever a file changes; Ctrl-C ends.")]
InPlaceOpt = Annotated[bool, typer.Option("--in-place", help="With --fix: write it back instead.")]


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
    einsum: opt.EinsumOpt = None,
    const: opt.ConstOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    libraries: opt.LibrariesOpt = False,
    deterministic: opt.DeterministicOpt = False,
    fix: FixOpt = False,
    in_place: InPlaceOpt = False,
    watched: WatchOpt = False,
    output: opt.OutScheduleOpt = None,
    no_warnings: opt.NoWarningsOpt = False,
    warnings: opt.WarnOpt = None,
    json: opt.JsonOpt = False,
    format: opt.FormatOpt = None,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Prove a schedule legal for a program and a machine, and warn of what it wastes. No device is needed."""
    line: CommandLine = ctx.obj
    request = Request(
        line, file, schedule, target, machine, device, tuple(define or ()), tuple(set_ or ()), function,
        strict_fp, deterministic, opt.allowed(allow, libraries=libraries),
        Warned.asked(line, warnings, hidden=no_warnings),
    )  # fmt: skip
    if watched:
        watch(request)
    trace = Trace.of(line, tuple(dump or ()), time, STAGES[:3])
    _demand_schedule(request, fix=fix, in_place=in_place)
    given = default_table(request, trace, load_schedule(request, trace))
    table = table_of(given)
    if table is not None:
        _check_table(request, trace, table, fix=fix, output=output, json=json)
        return
    _check_one(request, trace, given, fix=fix, in_place=in_place, output=output, json=json)


def _check_one(
    request: Request, trace: Trace, given: Schedule | None, *, fix: bool, in_place: bool, output: str | None,
    json: bool,
) -> None:  # fmt: skip
    line, schedule = request.line, request.schedule
    _, checked = plan_of(request, trace, given)
    changed = None
    if schedule is not None:
        # read again by its new path: the remark about the old one was given
        request = replace(request, schedule=moved(schedule))
        _check_sizes(request, checked.plan, load_schedule(request, Trace()))
        if fix:
            changed = _fixed(request, checked)
            checked = changed.checked
    found = warn(request, checked.plan)
    if schedule is not None:
        say_default(checked, output, schedule)
    if changed is not None and in_place and request.schedule is not None:
        write_text(line, request.schedule, changed.text)
        log(f"wrote {request.schedule}")
    if output is not None:
        _write(request, output, checked.plan.text)
    if json:
        show_json(_as_json(checked, found, changed))
    elif line.format is Format.SARIF:
        show_sarif(found, remedies(request, checked.plan, found))
    else:
        show(_text(checked) if changed is None or in_place else changed.text)


def _check_table(
    request: Request, trace: Trace, table: Table, *, fix: bool, output: str | None, json: bool
) -> None:
    line = request.line
    if fix:
        hint = "write the steps of a case to a file of their own"
        raise line.fail("F107", "--fix changes one schedule, and this is a table", "--fix", help=hint)
    plans = table_plans(request, trace, table)[1]
    found = [warn(request, one.checked.plan) for one in plans]
    if output is not None:
        _write(request, output, table_text(table, plans))
    if json:
        rows = [_as_json(one.checked, f, None) for one, f in zip(plans, found, strict=True)]
        cases = [{"over": ranges_text(p.case), **_case_json(row)} for p, row in zip(plans, rows, strict=True)]
        show_json(ok("check", table=True, cases=cases))
    elif line.format is Format.SARIF:
        show_sarif([d for one in found for d in one])
    else:
        show("".join(f"{one.name}: {_text(one.checked)}" for one in plans))


def _write(request: Request, output: str, text: str) -> None:
    keep_inputs(request.line, output, request.files, {Path(output): text})
    write_text(request.line, output, text)
    log(f"wrote {output}")


def _case_json(row: dict[str, object]) -> dict[str, object]:
    """A result without the head that the whole has."""
    return {key: value for key, value in row.items() if key not in ("schema", "ok", "verb")}


def _demand_schedule(request: Request, *, fix: bool, in_place: bool) -> None:
    """Raises Failed F107 for --fix without a schedule, and for --in-place without --fix; F111 for what is not
    written back."""
    if fix and request.schedule is None:
        raise request.line.fail("F107", "--fix needs a schedule", "--fix", help="add --schedule S.mdh")
    if fix and not in_place and request.line.format is Format.SARIF:
        headline = "--fix prints a schedule, and --format sarif a log"
        raise request.line.fail("F107", headline, "--fix", help="add --in-place")
    if in_place and not fix:
        hint = "add --fix, which says what is written"
        raise request.line.fail("F107", "--in-place needs --fix", "--in-place", help=hint)
    if in_place and request.schedule is not None:
        demand_own(request.line, request.schedule)


def _fixed(request: Request, checked: Checked) -> Fixed:
    assert request.schedule is not None
    given = parse_schedule(read_schedule(request.line, request.schedule))
    return fixed(
        checked, given, parse_sets(request.line, request.sets), deterministic=request.deterministic,
        demand_sizes=partial(_check_sizes, request, checked.plan), say=log,
    )  # fmt: skip


def _check_sizes(request: Request, plan: Plan, given: Schedule | None) -> None:
    """Raises Failed if the schedule is illegal at the sizes of its `for` and `small` lines for this program
    and machine. Does nothing with --set, because those lines were written for other values of its holes."""
    name = plan.machine.name
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
    inside = [row for s in plan.stages for row in _inside(s)]
    steps = sum(len(s.steps) for s in (*plan.stages, *(x.plan for _, x in inside)))
    what = schedule_words(checked)
    names = ", ".join([
        *(_named(plan, n) for n in range(len(plan.stages))),
        *(f"{x.stage.name} in {reader}" for reader, x in inside),
        *(f"{x.name} inline" for x in plan.inline),
    ])  # fmt: skip
    return (
        f"ok: {what} of {plan.program.name} (stages {names}; {steps} steps) is legal on "
        f"{plan.machine.name}, {plan.target}\n"
    )


def _named(plan: Plan, n: int) -> str:
    """Stage number n, with the library that computes it, or the stage whose launch it shares."""
    stage = plan.stages[n]
    name = stage.stage.name if stage.call is None else f"{stage.stage.name} by {stage.call.library}"
    host = next((launch[0] for launch in plan.launches if n in launch[1:]), None)
    return name if host is None else f"{name} beside {plan.stages[host].stage.name}"


def _inside(plan: StagePlan) -> list[tuple[str, InnerStage]]:
    """The stages that a kernel computes for itself, each with its reader."""
    return [row for x in plan.inner for row in ((plan.stage.name, x), *_inside(x.plan))]


def _as_json(checked: Checked, found: tuple[Diagnostic, ...], changed: Fixed | None) -> dict[str, object]:
    plan = checked.plan
    made = () if changed is None else changed.applied
    fixes = [{"code": f.diagnostic.code, "stage": f.stage, "change": f.diagnostic.help} for f in made]
    return ok(
        "check",
        program=plan.program.name,
        machine=plan.machine.name,
        target=plan.target,
        default=bool(checked.derived),
        default_stages=list(checked.derived),
        stages=[
            {"name": s.stage.name, "steps": len(s.steps)}
            | ({} if s.call is None else {"library": s.call.library})
            for s in plan.stages
        ],
        **({"inline": [x.name for x in plan.inline]} if plan.inline else {}),
        schedule=plan.text,
        warnings=[render_json(d) for d in found],
        **({} if changed is None else {"fixes": fixes, "fixed": changed.text}),
    )
