"""`mdh tune`: searches the holes of a schedule; writes the best schedule, its kernel and the record."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine
from mdh.cli.console import ending, log, ok, report, show, show_json
from mdh.cli.exit_codes import exit_code
from mdh.cli.files import demand_writable, write_text
from mdh.cli.options import Request
from mdh.cli.tune_order import Listing, orders_of
from mdh.cli.tune_over import run_over
from mdh.cli.tune_serve import RunDisplay, shown
from mdh.cli.tune_words import TuneWords
from mdh.diagnostics import Diagnostic, Failed, Label, render_json
from mdh.ending import CODES
from mdh.report.html import tuned_page
from mdh.report.tune_json import tuned_json
from mdh.report.tune_text import tuned_text
from mdh.results.goal import Ended, Goal
from mdh.results.tuning import Tuned
from mdh.tuner.order import Order
from mdh.tuner.runtime.interrupt import Interrupt, on_signals
from mdh.tuner.start import nothing_legal, start, unfound

app = typer.Typer(rich_markup_mode=None, add_completion=False)

FileArg = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE.c]",
        help="The program, or a name of `mdh examples`. Default: the listed ones.",
        show_default=False,
        callback=opt.told_of_folder,
        autocompletion=completion.programs,
    ),
]
BudgetOpt = Annotated[
    str | None, typer.Option("--budget", metavar="TIME", help="Time limit, finals included: 3h, 5m, 30s.")
]
TrialsOpt = Annotated[
    int | None, typer.Option("--trials", metavar="N", help="The most candidates to measure.")
]
UntilOpt = Annotated[
    float | None,
    typer.Option("--until-speedup", metavar="X", help="Stop at X times the default schedule's speed."),
]
SeedOpt = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the search and of the arrays.")]
SamplerOpt = Annotated[
    str | None,
    typer.Option(
        "--sampler",
        metavar="NAME",
        help="How points are chosen; without it `evolution`.",
        autocompletion=completion.samplers,
    ),
]
ModelOpt = Annotated[
    bool, typer.Option("--model/--no-model", help="Let a cost model choose what is measured.")
]
DevicesOpt = Annotated[
    str | None,
    typer.Option("--devices", metavar="A,B", help="Several devices of one model, used in parallel."),
]
JobsOpt = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="Number of parallel compilers.")
]
StorageOpt = Annotated[
    str | None, typer.Option("--storage", metavar="URL", help="Database or file of a shared study.")
]
ClusterOpt = Annotated[
    str | None, typer.Option("--cluster", metavar="URL", help="A Dask scheduler, whose workers measure.")
]
OutOpt = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder of the outputs.")]
RecordOpt = Annotated[
    str | None, typer.Option("--record", metavar="FILE", help="The record. Default: one in DIR.")
]
ResumeOpt = Annotated[bool, typer.Option("--resume/--no-resume", help="Continue the record that is there.")]
ReplayOpt = Annotated[
    str | None, typer.Option("--replay", metavar="RECORD", help="Simulate the search from a record.")
]
AtOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="M=100,…",
        help="The values of open sizes to tune for.",
        autocompletion=completion.sizes,
    ),
]
OverOpt = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="M=1..4096", help="A range of a size: write a table of schedules for it."),
]
HtmlOpt = Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page about the run.")]
ServeOpt = Annotated[
    int | None,
    typer.Option(
        "--serve",
        metavar="[PORT]",
        min=0,
        max=65535,
        help="Show the run to browsers on this machine meanwhile.",
    ),
]


@app.command()
def tune(
    ctx: typer.Context,
    file: FileArg = None,
    schedule: opt.ScheduleOpt = None,
    budget: BudgetOpt = None,
    trials: TrialsOpt = None,
    until_speedup: UntilOpt = None,
    device: opt.DeviceOpt = None,
    devices: DevicesOpt = None,
    define: opt.DefineOpt = None,
    set_: opt.SetOpt = None,
    at: AtOpt = None,
    over: OverOpt = None,
    output: OutOpt = ".",
    record: RecordOpt = None,
    resume: ResumeOpt = True,
    sampler: SamplerOpt = None,
    model: ModelOpt = True,
    seed: SeedOpt = 0,
    jobs: JobsOpt = None,
    storage: StorageOpt = None,
    cluster: ClusterOpt = None,
    replay: ReplayOpt = None,
    machine: opt.MachineOpt = None,
    html: HtmlOpt = None,
    serve: ServeOpt = None,
    einsum: opt.EinsumOpt = None,
    const: opt.ConstOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    libraries: opt.LibrariesOpt = False,
    deterministic: opt.DeterministicOpt = False,
    json: opt.JsonOpt = False,
) -> None:
    """Find the values of a schedule's holes that are fastest on a device; every candidate is verified.

    Without a file, tunes the programs that [tool.mdh] in pyproject.toml, or mdh.toml, lists. The same command
    continues a run that was ended.
    """
    line: CommandLine = ctx.obj
    words = TuneWords(
        budget, trials, until_speedup, sampler, model, seed, devices, device, jobs, storage, cluster, output,
        record, resume, replay, machine, html, tuple(at or ()), serve,
    )  # fmt: skip
    request = None
    if file is not None:
        request = Request(
            line, file, schedule, None, machine, device, tuple(define or ()), tuple(set_ or ()), function,
            strict_fp, deterministic, opt.allowed(allow, libraries=libraries),
        )  # fmt: skip
    if over:
        run_over(line, words, request, over, json=json)
    else:
        _run(line, words, request, json)


def _run(line: CommandLine, words: TuneWords, request: Request | None, json: bool) -> None:
    listing = orders_of(line, words, request)
    if words.html is not None:
        demand_writable(line, words.html)
    interrupt = Interrupt()
    with shown(line, ", ".join(dict.fromkeys(x.program.name for x in listing.orders)), words.serve) as pages:
        results = asyncio.run(_all(line, listing, interrupt, pages))
    found = [line.told(d) for d in _outcomes(line, results, words)]
    if json:
        _show_json(results, found, single=request is not None)
    else:
        show("\n".join(tuned_text(t) for t in results))
        report(found)
    if interrupt.signal is not None:
        raise typer.Exit(CODES[interrupt.signal])
    if found:
        raise typer.Exit(exit_code(found))


async def _all(line: CommandLine, listing: Listing, interrupt: Interrupt, pages: RunDisplay) -> list[Tuned]:
    """Runs the orders one after another. The remaining budget is divided anew before each."""
    out: list[Tuned] = []
    left = listing.goal.seconds
    with on_signals(interrupt, partial(ending, done="found")):
        for n, order in enumerate(listing.orders):
            if interrupt.asked:
                break
            share = None if left is None else left / (len(listing.orders) - n)
            goal = Goal(listing.goal.trials, share, listing.goal.speedup)
            with pages.run(order) as watch:
                tuned = await _placed(line, order, start(replace(order, goal=goal), watch, interrupt, log))
                watch.end(tuned)
            if tuned is not None:
                out.append(tuned)
                left = None if left is None else max(1.0, left - tuned.elapsed)
    return out


async def _placed(line: CommandLine, order: Order, work: Coroutine[Any, Any, Tuned | None]) -> Tuned | None:
    """Runs an order. Errors without a place are shown at the word that they are about."""
    try:
        return await work
    except Failed as failed:
        raise Failed(*(_at_its_word(line, order, d) for d in failed.diagnostics)) from failed


def _at_its_word(line: CommandLine, order: Order, d: Diagnostic) -> Diagnostic:
    about = {
        "D1": (*order.devices, ",".join(order.devices), order.cluster),
        "F17": (order.record, order.replay), "F197": (order.replay,), "F10": (order.replay, order.record),
        "F18": (order.storage, order.sampler), "F20": (order.cluster,),
        "F111": (order.record, str(order.place)),
    }  # fmt: skip
    words = [w for prefix, found in about.items() if d.code.startswith(prefix) for w in found if w]
    if d.code == "F111":
        words = [w for w in words if f"`{w}" in d.headline]
    span = next((s for w in words if (s := line.span_of(w)) is not None), None)
    return d if d.labels or span is None else replace(d, labels=(Label(span),))


def _outcomes(line: CommandLine, results: list[Tuned], words: TuneWords) -> list[Diagnostic]:
    """Diagnostics that make the runs a failure. Also writes the page."""
    found: list[Diagnostic] = []
    if words.html is not None:
        for n, tuned in enumerate(results):
            path = Path(words.html)
            place = path if len(results) == 1 else path.with_name(f"{path.stem}.{n + 1}{path.suffix}")
            try:
                write_text(line, place, tuned_page(tuned))
            except Failed as failed:
                # results are reported all the same
                found.extend(failed.diagnostics)
    for tuned in results:
        found.extend(tuned.trouble)
        if tuned.best is None and not tuned.trouble and tuned.ended is not Ended.INTERRUPTED:
            found.append(unfound(tuned))
        elif not tuned.trouble and (empty := nothing_legal(tuned)) is not None:
            found.append(empty)
    return found


def _show_json(results: list[Tuned], found: list[Diagnostic], *, single: bool) -> None:
    rows = [tuned_json(t) for t in results]
    body: dict[str, Any] = rows[0] if single and rows else {"runs": rows}
    whole = ok("tune", **body)
    if found:
        diagnostics = [render_json(d) for d in found]
        whole.update(ok=False, exit=exit_code(found), diagnostics=diagnostics)
    show_json(whole)
