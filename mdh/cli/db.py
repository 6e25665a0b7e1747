"""`mdh db`: lists, shows, merges and exports the tuner's records."""

import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.db_text import list_text, show_text, trial_text
from mdh.cli.files import keep_inputs, write_text
from mdh.cli.options import JsonOpt
from mdh.diagnostics import Failed
from mdh.results.trial import Trial
from mdh.tuner.records.best import best, ranked
from mdh.tuner.records.export import FORMATS, export_text
from mdh.tuner.records.form import header_fields, trial_fields
from mdh.tuner.records.listing import Listed, data_folder, list_folder, listed
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import Contents, RecordSection, chosen, failures_of, read_contents, read_lines
from mdh.wording import counted

VERBS = ("list", "show", "merge", "export")


class _Verbs(TyperGroup):
    """A group that lists its commands when an unknown one is given."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in VERBS and not word.startswith("-"):
            raise ctx.obj.fail(
                "F106", f"`mdh db` has no verb `{word}`", word, help=f"give {', '.join(VERBS)}"
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Verbs, rich_markup_mode=None, add_completion=False)

PlacesArg = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PLACE]...", help="Folders and records. Default: this folder and the data folder.",
        show_default=False,
    ),
]  # fmt: skip
RecordArg = Annotated[str, typer.Argument(metavar="FILE", help="A record.", show_default=False)]
OutArg = Annotated[
    str,
    typer.Argument(metavar="OUT", help="The record to write; its own trials are kept.", show_default=False),
]
InputsArg = Annotated[list[str], typer.Argument(metavar="A B...", help="Records.", show_default=False)]
TrialOpt = Annotated[int | None, typer.Option("--trial", metavar="N", help="Show one trial in full.")]
BestOpt = Annotated[int, typer.Option("--best", metavar="N", help="Number of best trials.", min=0)]
KeyOpt = Annotated[
    str | None, typer.Option("--record", metavar="KEY", help="One record of a merged file, by its key.")
]
FormatOpt = Annotated[str, typer.Option("--format", metavar="NAME", help="jsonl, csv or t4.")]
OutOpt = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="File to write. Default: stdout.")
]


@app.callback(invoke_without_command=True)
def root(ctx: typer.Context) -> None:
    """List, show, merge and export the records of the tuner."""
    if ctx.invoked_subcommand is None:
        show(ctx.get_help())


@app.command("list")
def list_records(ctx: typer.Context, places: PlacesArg = None, json: JsonOpt = False) -> None:
    """List records: best time, trials, failures, program, sizes, device, date."""
    line: CommandLine = ctx.obj
    here = [".", data_folder(os.environ)]
    found: list[Listed] = []
    remarks: list[str] = []
    for place in places or here:
        rows, said = _in_place(line, place, strict=places is not None)
        found.extend(rows)
        remarks.extend(said)
    _remark(remarks)
    if json:
        show_json(ok("db", action="list", records=[_listed_data(r) for r in found], remarks=remarks))
        return
    if not found:
        log(f"no records in {', '.join(places or here)}")
        return
    show(list_text(found))


@app.command("show")
def show_record(
    ctx: typer.Context,
    file: RecordArg,
    trial: TrialOpt = None,
    best_of: BestOpt = 10,
    record: KeyOpt = None,
    json: JsonOpt = False,
) -> None:
    """Show a record: the best trials, the failures by class with their first message; or one trial."""
    line: CommandLine = ctx.obj
    contents = _contents(line, file)
    section = _chosen(line, contents, record)
    picked = _picked(line, file, section, trial)
    if json:
        data = ok("db", action="show", path=file, remarks=list(contents.remarks))
        show_json(
            data | (_section_data(section, best_of) if trial is None else _trials_data(section, picked))
        )
    elif trial is None:
        show(show_text(file, section, best_of))
    else:
        show("\n".join(trial_text(section.header, t) for t in picked))


@app.command("merge")
def merge_records(ctx: typer.Context, out: OutArg, inputs: InputsArg, json: JsonOpt = False) -> None:
    """Write the union of records: every trial once, none dropped. Inputs are not changed."""
    line: CommandLine = ctx.obj
    for path in inputs:
        at_word(line, path, partial(read_lines, path))
    remarks = at_word(line, out, lambda: merge(out, inputs))
    _remark(remarks)
    whole = read_lines(out)
    trials = sum(len(s.trials) for s in whole.sections)
    if json:
        rows = [_listed_data(r) for r in listed(whole)]
        show_json(ok("db", action="merge", path=out, trials=trials, records=rows, remarks=list(remarks)))
    else:
        log(f"wrote {out}: {counted(len(whole.sections), 'record')}, {counted(trials, 'trial')}")


@app.command("export")
def export_record(
    ctx: typer.Context,
    file: RecordArg,
    form: FormatOpt = "jsonl",
    out: OutOpt = None,
    record: KeyOpt = None,
    json: JsonOpt = False,
) -> None:
    """Export a record as JSON Lines, as CSV, or as T4 results (TuningSchema 1.0.0)."""
    line: CommandLine = ctx.obj
    if form not in FORMATS:
        raise line.fail("F107", f"`{form}` is no format of export", form, help=f"give {', '.join(FORMATS)}")
    contents = _contents(line, file)
    one = record is not None or form == "t4"
    sections = (_chosen(line, contents, record),) if one else contents.sections
    text = export_text(form, sections)
    if out is not None and out != "-":
        keep_inputs(line, out, [file], {Path(out): text})
        write_text(line, out, text)
        log(f"wrote {out}")
    if json:
        trials = sum(len(s.trials) for s in sections)
        shown: dict[str, Any] = {"text": text} if out is None or out == "-" else {"path": out}
        show_json(ok("db", action="export", format=form, trials=trials, **shown))
    elif out is None or out == "-":
        show(text)


def _in_place(line: CommandLine, place: str, *, strict: bool) -> tuple[list[Listed], list[str]]:
    """The records at a place. strict: the user named it, so it must exist."""
    if os.path.isdir(place):
        try:
            rows, remarks = list_folder(place)
        except OSError as error:
            word = error.strerror or str(error)
            raise line.fail("F103", f"`{place}` cannot be read: {word.lower()}", place) from None
        return list(rows), list(remarks)
    if not strict:
        return [], []
    contents = at_word(line, place, lambda: read_contents(place))
    return list(listed(contents)), list(contents.remarks)


def _contents(line: CommandLine, path: str) -> Contents:
    contents = at_word(line, path, lambda: read_contents(path))
    _remark(contents.remarks)
    return contents


def _chosen(line: CommandLine, contents: Contents, mark: str | None) -> RecordSection:
    return at_word(line, contents.path if mark is None else mark, lambda: chosen(contents, mark))


def _picked(line: CommandLine, path: str, section: RecordSection, number: int | None) -> list[Trial]:
    """The trials of that number; merged files may have several. Raises Failed F175."""
    found = [t for t in section.trials if t.number == number]
    if number is None or found:
        return found
    numbers = sorted({t.number for t in section.trials})
    held = f"its trials are {numbers[0]} to {numbers[-1]}" if numbers else "it has none yet"
    raise _no_trial(line, path, number, held)


def _no_trial(line: CommandLine, path: str, number: int, held: str) -> Failed:
    return line.fail("F175", f"`{path}` has no trial {number}", str(number), help=held, last=True)


def _remark(remarks: list[str] | tuple[str, ...]) -> None:
    for text in remarks:
        log(text)


def _listed_data(row: Listed) -> dict[str, Any]:
    data = asdict(row)
    data["header"] = header_fields(row.header)
    data["failures"] = dict(row.failures)
    return data


def _section_data(section: RecordSection, count: int) -> dict[str, Any]:
    first = best(section.trials)
    mark = section.header.mark
    return {
        "header": header_fields(section.header),
        "trials": len(section.trials),
        "failures": failures_of(section.trials),
        "best": None if first is None else trial_fields(first, mark),
        "ranked": [trial_fields(row[-1], mark) for row in ranked(section.trials)[:count]],
    }


def _trials_data(section: RecordSection, trials: list[Trial]) -> dict[str, Any]:
    return {
        "header": header_fields(section.header),
        "selected": [trial_fields(t, section.header.mark) for t in trials],
    }
