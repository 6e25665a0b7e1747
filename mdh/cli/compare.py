"""`mdh compare`: compares schedules on several devices and machines."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine
from mdh.cli.compare_live import doing
from mdh.cli.compare_words import CompareWords, task_of
from mdh.cli.console import ending, log, ok, show, show_json
from mdh.cli.exit_codes import NOTHING_VALID, WRONG_RESULT
from mdh.cli.files import demand_writable, keep_inputs, write_text
from mdh.cli.options import Request
from mdh.cli.tune_live import live
from mdh.compare.run import compare as compared
from mdh.compare.task import Task
from mdh.ending import CODES
from mdh.report.compare_json import comparison_json
from mdh.report.compare_page import comparison_page
from mdh.report.compare_text import comparison_text
from mdh.results.comparison import Comparison, RowKind
from mdh.tuner.runtime.interrupt import Interrupt, on_signals

app = typer.Typer(rich_markup_mode=None, add_completion=False)

SchedulesOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--schedule",
        "-s",
        metavar="S.mdh",
        help="A schedule, a folder of some, or `default`; may be repeated.",
        autocompletion=completion.compared_names,
    ),
]
DevicesOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        metavar="SPEC",
        help="cuda:N, opencl:N, c; may be repeated. Default: first GPU.",
        autocompletion=completion.devices,
    ),
]
MachinesOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="NAME",
        help="A machine elsewhere: recorded or estimated times.",
        autocompletion=completion.machines,
    ),
]
RecordsOpt = Annotated[
    list[str] | None,
    typer.Option("--records", metavar="PLACE", help="Folders and records of tunings. Default: this folder."),
]
BaselineOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="A library for products: numpy, torch, mkl or cublas.",
        autocompletion=completion.baselines,
    ),
]
BudgetOpt = Annotated[
    str | None,
    typer.Option("--budget", metavar="TIME", help="Time in total to tune holes that have no record."),
]
RepeatOpt = Annotated[int, typer.Option("--repeat", metavar="N", min=3, help="The most timed runs of each.")]
SeedOpt = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the arrays and of tuning.")]
CodeOpt = Annotated[bool, typer.Option("--code", help="Also show how the emitted code differs.")]
HtmlOpt = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write a page about the comparison.")
]


@app.command()
def compare(
    ctx: typer.Context,
    file: opt.FileArg,
    schedule: SchedulesOpt = None,
    device: DevicesOpt = None,
    machine: MachinesOpt = None,
    define: opt.DefineOpt = None,
    records: RecordsOpt = None,
    baseline: BaselineOpt = None,
    budget: BudgetOpt = None,
    repeat: RepeatOpt = 60,
    seed: SeedOpt = 0,
    code: CodeOpt = False,
    html: HtmlOpt = None,
    einsum: opt.EinsumOpt = None,
    const: opt.ConstOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    libraries: opt.LibrariesOpt = False,
    deterministic: opt.DeterministicOpt = False,
    json: opt.JsonOpt = False,
) -> None:
    """Compare schedules on devices. All are verified and timed in turns; a table shows what limits each.

    A schedule that does not fit or fails on a device is a row with the reason. Schedules with holes take the
    values of the best tuning on record, else --budget tunes them, else their first point is taken.
    """
    line: CommandLine = ctx.obj
    request = Request(
        line, file, defines=tuple(define or ()), function=function, strict_fp=strict_fp,
        deterministic=deterministic, allow=opt.allowed(allow, libraries=libraries),
    )  # fmt: skip
    words = CompareWords(
        tuple(schedule or ("default",)), tuple(device or ()), tuple(machine or ()),
        None if records is None else tuple(records), tuple(baseline or ()), budget, repeat, seed,
        html is not None,
    )  # fmt: skip
    task = task_of(request, words)
    if html is not None:
        keep_inputs(line, html, [file, *words.schedules, *words.machines], {Path(html): None})
        demand_writable(line, html)
    interrupt = Interrupt()
    found = asyncio.run(_run(task, interrupt))
    if json:
        show_json(_as_json(found, code))
    else:
        show(comparison_text(found, code=code))
    if html is not None:
        write_text(line, html, comparison_page(found))
        log(f"wrote {html}")
    if interrupt.signal is not None:
        raise typer.Exit(CODES[interrupt.signal])
    raise typer.Exit(_exit(found))


async def _run(task: Task, interrupt: Interrupt) -> Comparison:
    with on_signals(interrupt, partial(ending, done="measured")):
        return await compared(task, interrupt, log, live, doing)


def _exit(found: Comparison) -> int:
    """The exit code. A wrong result is graver than a schedule that does not fit; without any time there is no
    comparison."""
    if any(r.kind is RowKind.FAILED and r.why is not None and r.why.code.startswith("N") for r in found.rows):
        return WRONG_RESULT
    return 0 if any(r.time is not None for r in found.rows) else NOTHING_VALID


def _as_json(found: Comparison, code: bool) -> dict[str, object]:
    whole = ok("compare", **comparison_json(found, code=code))
    exit_code = _exit(found)
    if exit_code:
        whole.update(ok=False, exit=exit_code, diagnostics=[])
    return whole
