"""`mdh reproduce`: runs the tables and figures of papers again, on the machine at hand."""

import asyncio
from functools import partial
from math import isfinite
from typing import Annotated, Any

import typer

from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import ending, log, ok, show, show_json
from mdh.cli.exit_codes import WRONG_RESULT
from mdh.cli.files import demand_writable, write_text
from mdh.cli.tune_live import live
from mdh.cli.values import device_or_default
from mdh.device.api import demand_spec
from mdh.diagnostics import Diagnostic, Failed
from mdh.ending import CODES
from mdh.report.reproduction_json import experiment_json, left_out_json, reproduction_json
from mdh.report.reproduction_page import reproduction_page
from mdh.report.reproduction_text import absences, list_text, reproduction_text, summary
from mdh.reproduce.run import ExperimentOrder
from mdh.reproduce.run import reproduce as measured
from mdh.reproduce.table import EXPERIMENTS, LEFT_OUT, experiment_called, left_out_called, names
from mdh.results.experiment import Experiment
from mdh.results.reproduction import Reproduction
from mdh.tuner.runtime.interrupt import Interrupt, on_signals
from mdh.wording import meant

app = typer.Typer(rich_markup_mode=None, add_completion=False)

NameArg = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="An experiment of the list.",
        show_default=False,
        autocompletion=completion.experiments,
    ),
]
MinutesOpt = Annotated[
    float | None,
    typer.Option("--minutes", metavar="N", min=0, help="What is not measured by then is named."),
]
OutPageOpt = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE.md", help="Write a page of the result.")
]


@app.command("reproduce")
def main(
    ctx: typer.Context,
    name: NameArg = None,
    device: opt.DeviceOpt = None,
    minutes: MinutesOpt = None,
    out: OutPageOpt = None,
    json: opt.JsonOpt = False,
) -> None:
    """List tables and figures of papers that mdh runs again; or run one beside libraries on this machine.

    Results are verified before anything is timed. The paper's figures, the libraries' and mdh's stand side by
    side. A library that is not installed, and a case that does not fit the device or the minutes, are named.
    """
    line: CommandLine = ctx.obj
    if name is None:
        if json:
            show_json(_list())
        else:
            show(list_text(EXPERIMENTS, LEFT_OUT))
        return
    experiment = demand_experiment(line, name)
    if device is not None:
        spec = device
        at_word(line, spec, lambda: demand_spec(spec))
    if minutes is not None and not isfinite(minutes):
        raise line.fail("F107", f"`{minutes}` is no value of --minutes", "--minutes", help="give a number")
    if out is not None:
        demand_writable(line, out)
    order = ExperimentOrder(
        experiment, device_or_default(device), experiment.minutes if minutes is None else minutes,
        line.source.text,
    )  # fmt: skip
    interrupt = Interrupt()
    found = asyncio.run(_run(order, interrupt))
    if not (found.measured or found.wrong or interrupt.signal is not None):
        raise nothing_measured(experiment, found)
    if json:
        show_json(_as_json(experiment, found))
    else:
        show(reproduction_text(experiment, found))
    if out is not None:
        write_text(line, out, reproduction_page(experiment, (found,)))
        log(f"wrote {out}")
    log(summary(found))
    if interrupt.signal is not None:
        raise typer.Exit(CODES[interrupt.signal])
    raise typer.Exit(WRONG_RESULT if found.wrong else 0)


async def _run(order: ExperimentOrder, interrupt: Interrupt) -> Reproduction:
    with on_signals(interrupt, partial(ending, done="measured")):
        return await measured(order, interrupt, log, live)


def demand_experiment(line: CommandLine, name: str) -> Experiment:
    """The experiment of this name. Raises Failed F214 for a name that is none, F216 for what mdh does not
    run."""
    left = left_out_called(name)
    if left is not None:
        headline = f"mdh does not run {left.place} of {left.paper.name}: {left.why}"
        raise line.fail("F216", headline, name, help="`mdh reproduce` lists what it runs")
    found = experiment_called(name)
    if found is None:
        hint = meant(name, names(), otherwise="`mdh reproduce` lists them")
        raise line.fail("F214", f"no experiment is called `{name}`", name, help=hint)
    return found


def nothing_measured(experiment: Experiment, found: Reproduction) -> Failed:
    """F215, with the reasons."""
    headline = f"nothing of `{experiment.name}` was measured on {found.device}"
    hint = "give more --minutes, or another --device"
    return Failed(Diagnostic("F215", headline, notes=tuple(absences(found)), help=hint))


def _as_json(experiment: Experiment, found: Reproduction) -> dict[str, Any]:
    whole = ok("reproduce", **reproduction_json(experiment, found))
    if found.wrong:
        whole.update(ok=False, exit=WRONG_RESULT, diagnostics=[])
    return whole


def _list() -> dict[str, Any]:
    return ok(
        "reproduce", experiments=[experiment_json(e) for e in EXPERIMENTS],
        left_out=[left_out_json(e) for e in LEFT_OUT],
    )  # fmt: skip
