"""`mdh tune --over M=1..4096`: a table of schedules for ranges of sizes."""

import asyncio
from collections.abc import Sequence
from functools import partial

import typer

from mdh.cli.command_line import CommandLine
from mdh.cli.console import ending, log, ok, report, show, show_json
from mdh.cli.exit_codes import exit_code
from mdh.cli.options import Request
from mdh.cli.tune_order import over_of
from mdh.cli.tune_serve import RunDisplay, shown
from mdh.cli.tune_words import TuneWords
from mdh.diagnostics import render_json
from mdh.ending import CODES
from mdh.report.table_tuning import table_json, table_text
from mdh.results.table_tuning import TableTuned
from mdh.tuner.over.run import tune_over
from mdh.tuner.runtime.interrupt import Interrupt, on_signals


def run_over(
    line: CommandLine, words: TuneWords, request: Request | None, ranges: Sequence[str], *, json: bool
) -> None:
    over, goal = over_of(line, words, request, ranges)
    interrupt = Interrupt()

    async def all_cells(pages: RunDisplay) -> TableTuned:
        with on_signals(interrupt, partial(ending, done="found")):
            return await tune_over(over, goal, pages.cell, interrupt, log)

    with shown(line, request.file if request is not None else "", words.serve) as pages:
        tuned = asyncio.run(all_cells(pages))
    found = [line.told(d) for d in tuned.trouble]
    if json:
        whole = ok("tune", **table_json(tuned))
        if found:
            whole.update(ok=False, exit=exit_code(found), diagnostics=[render_json(d) for d in found])
        show_json(whole)
    else:
        show(table_text(tuned))
        report(found)
    if interrupt.signal is not None:
        raise typer.Exit(CODES[interrupt.signal])
    if found:
        raise typer.Exit(exit_code(found))
