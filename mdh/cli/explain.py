"""`mdh explain`: shows the page of a diagnostic code, or describes a program with its schedule."""

from dataclasses import asdict, dataclass
from shlex import quote
from shutil import get_terminal_size
from typing import Annotated

import typer

from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.command_line import QUIET, CommandLine
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.explain_machine_code import counters as count
from mdh.cli.explain_machine_code import machine_code
from mdh.cli.explain_page import plan_for_page, write_page, write_picture
from mdh.cli.explain_space import explain_space
from mdh.cli.files import read_schedule
from mdh.cli.job import load_program, load_schedule, make_kernel, plan_of
from mdh.cli.options import Request
from mdh.cli.tables import default_table, table_plans
from mdh.cli.trace import Trace
from mdh.ir.program import Program
from mdh.report.difference_text import differences_text
from mdh.report.explain import as_json, explain_plan, explain_program, shareable, skewable
from mdh.report.hot_text import counted_json, counted_text, hot_json, hot_text
from mdh.report.pages import looks_like_code, near_codes, page_of, plain
from mdh.report.text import entries_text, front_text, plan_text, shared_text
from mdh.schedule.cases import Table, by_case, ranges_text
from mdh.schedule.difference import differences
from mdh.schedule.parser import parse_schedule
from mdh.textfile import PROGRAMS

app = typer.Typer(rich_markup_mode=None, add_completion=False)
SpaceOpt = Annotated[bool, typer.Option("--space", help="Count the points that the schedule's holes span.")]
HtmlOpt = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Write a page that draws tiles and units to scale."),
]
SvgOpt = Annotated[
    str | None,
    typer.Option("--svg", metavar="FILE", help="Write one picture of the arrays and steps, for documents."),
]
AsmOpt = Annotated[bool, typer.Option("--asm", help="Show the hot loop of the machine code.")]
CountersOpt = Annotated[
    bool,
    typer.Option("--counters", help="Run the kernels and show hardware counters, where they may be read."),
]
SubjectArg = Annotated[
    str,
    typer.Argument(
        metavar="FILE.c|CODE",
        help="A program, a schedule, or a code: K104.",
        show_default=False,
        callback=opt.told_of_folder,
        autocompletion=completion.subjects,
    ),
]
OtherArg = Annotated[
    str | None,
    typer.Argument(
        metavar="[S.mdh]",
        help="A second schedule, to compare with the first.",
        show_default=False,
        autocompletion=completion.schedule_names,
    ),
]


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked at beyond the plan."""

    asm: bool
    counters: bool

    @property
    def any(self) -> bool:
        return self.asm or self.counters


@app.command()
def explain(
    ctx: typer.Context,
    subject: SubjectArg,
    other: OtherArg = None,
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
    space: SpaceOpt = False,
    html: HtmlOpt = None,
    svg: SvgOpt = None,
    asm: AsmOpt = False,
    counters: CountersOpt = False,
    json: opt.JsonOpt = False,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Show loops, layers, footprints, bytes, registers and occupancy; or a code's page; or how two schedules
    differ.

    Without a machine, and without a schedule that names one, only the entries of a step are shown.
    """
    line: CommandLine = ctx.obj
    compared = other is not None or subject.endswith(".mdh")
    for option, given in (("--html", html), ("--svg", svg), ("--asm", asm), ("--counters", counters)):
        if given and (compared or space or looks_like_code(subject)):
            said = f"{option} {'draws' if isinstance(given, str) else 'is about'} a schedule"
            raise line.fail("F107", said, option, help="give FILE.c, without --space")
    if compared:
        explain_difference(line, subject, other, json)
        return
    if looks_like_code(subject):
        _explain_code(line, subject, json)
        return
    request = Request(
        line, subject, schedule, target, machine, device, tuple(define or ()), tuple(set_ or ()), function,
        strict_fp, deterministic, opt.allowed(allow, libraries=libraries),
    )  # fmt: skip
    trace = Trace.of(line, tuple(dump or ()), time)
    if space:
        explain_space(request, trace, json)
    elif not any((request.machine, request.device, schedule, html, svg, asm, counters)):
        _explain_entries(request, trace, json)
    else:
        _explain_plan(request, trace, json, html, svg, Looked(asm, counters))


def _explain_code(line: CommandLine, code: str, json: bool) -> None:
    page = page_of(code)
    if page is None:
        near = ", ".join(near_codes(code))
        hint = f"near it: {near}" if near else "codes stand in the brackets of messages"
        raise line.fail("F112", f"no diagnostic has the code `{code}`", code, help=hint)
    if json:
        show_json(ok("explain", code=code.upper(), page=page))
    else:
        show(plain(page, get_terminal_size((80, 24)).columns))


def _explain_entries(request: Request, trace: Trace, json: bool) -> None:
    program = load_program(request, trace)
    _say_largest(program)
    entries = explain_program(program)
    loops, fronts = shareable(program), skewable(program)
    if json:
        stages = [asdict(e) for e in entries]
        shared = {"shareable": [asdict(x) for x in loops]} if loops else {}
        skewed = {"skewable": [asdict(x) for x in fronts]} if fronts else {}
        show_json(ok("explain", stages=stages, **shared, **skewed))
        return
    show("\n".join([*map(entries_text, entries), *map(shared_text, loops), *map(front_text, fronts)]))
    log("add --machine NAME for loops, bytes and occupancy")


def _explain_plan(
    request: Request, trace: Trace, json: bool, html: str | None, svg: str | None, looked: Looked
) -> None:
    notes: tuple[str, ...] = ()
    if html is None and svg is None and not looked.any:
        given = default_table(request, trace, load_schedule(request, trace))
        if given is not None and given.derived and given.cases:
            _explain_cases(request, trace, Table(given), json)
            return
        plan = plan_of(request, trace, given)[1].plan
    else:
        plan, notes = plan_for_page(request, trace, html, svg)
    _say_largest(plan.program)
    module, text = make_kernel(trace, plan)
    hot = machine_code(request, plan, text) if looked.asm else None
    counted = count(request, plan, text) if looked.counters else None
    if html is not None:
        write_page(request, html, plan, module, text, notes, hot, counted)
    if svg is not None:
        write_picture(request, svg, plan)
    if json:
        more = {} if hot is None else {"hot_loop": hot_json(hot)}
        more |= {} if counted is None else {"counters": counted_json(counted)}
        show_json(ok("explain", **as_json(explain_plan(plan, module)), schedule=plan.text, **more))
    elif (svg is not None or html is not None) and not looked.any:
        show("".join(f"{path}\n" for path in (html, svg) if path is not None))
    else:
        said = [plan_text(plan, module), *([hot_text(hot)] if hot is not None else [])]
        show("\n".join([*said, *([counted_text(counted)] if counted is not None else [])]))


def _explain_cases(request: Request, trace: Trace, table: Table, json: bool) -> None:
    """Each case of a default table."""
    rows = []
    for one in table_plans(request, trace, table)[1]:
        plan = one.checked.plan
        module = make_kernel(trace, plan)[0]
        if json:
            found = as_json(explain_plan(plan, module))
            rows.append({"over": ranges_text(one.case), **found, "schedule": plan.text})
        else:
            _say_largest(plan.program)
            show(f"{one.name}\n{plan_text(plan, module)}")
    if json:
        show_json(ok("explain", table=True, cases=rows))


def _say_largest(program: Program) -> None:
    """A remark on the figures of a program with open sizes."""
    if program.opens:
        largest = ", ".join(f"{size.name} = {size.most}" for size in program.opens)
        log(f"figures are those of the largest sizes: {largest}")


def explain_difference(line: CommandLine, before: str, after: str | None, json: bool) -> None:
    """Shows the difference. Raises Failed F101 to F105 for the files, S1xx for their texts, F107 for a single
    schedule and for options without effect here."""
    if after is None:
        hint = "write `mdh explain A.mdh B.mdh`, or `mdh explain FILE.c --schedule A.mdh`"
        raise line.fail(
            "F107", f"`{before}` alone: what it amounts to depends on a program", before, help=hint
        )
    program = next((path for path in (before, after) if path.endswith(PROGRAMS)), None)
    if program is not None:
        schedule = after if program == before else before
        hint = f"write `mdh explain {quote(program)} --schedule {quote(schedule)}`"
        raise line.fail("F107", f"`{program}` is no schedule", program, help=hint)
    fine = ("-", "--json", *QUIET)
    option = next((w for w in line.words if w.startswith("-") and w not in fine), None)
    if option is not None:
        headline = f"`{option.partition('=')[0]}` has nothing to do between two schedules"
        raise line.fail("F107", headline, option, help="leave it out")
    old, new = (parse_schedule(read_schedule(line, path)) for path in (before, after))
    found = differences(by_case(old), by_case(new))
    if json:
        sections = [{**asdict(s), "same": s.same} for s in found]
        targets = [old.target, new.target]
        show_json(ok("explain", before=before, after=after, targets=targets, sections=sections))
    else:
        text = differences_text(found, before, after)
        if old.target != new.target:
            text += f"  written for {old.target or 'any machine'} → {new.target or 'any machine'}\n"
        show(text)
