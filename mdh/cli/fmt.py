"""`mdh fmt`: formats files or standard input in the canonical form."""

import difflib
from pathlib import Path
from typing import Annotated

import typer

from mdh.cli.command_line import CommandLine
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.exit_codes import OK, REJECTED
from mdh.cli.files import read_schedule, write_text
from mdh.cli.options import JsonOpt
from mdh.schedule.canonical import canonical
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.textfile import PROGRAMS

app = typer.Typer(rich_markup_mode=None, add_completion=False)

FilesArg = Annotated[
    list[str], typer.Argument(metavar="S.mdh...", help="Schedules; - is standard input.", show_default=False)
]
CheckOpt = Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if a file would change.")]
DiffOpt = Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")]
StdoutOpt = Annotated[bool, typer.Option("--stdout", help="Print the result instead of writing it back.")]


@app.command()
def fmt(
    ctx: typer.Context,
    files: FilesArg,
    check: CheckOpt = False,
    diff: DiffOpt = False,
    stdout: StdoutOpt = False,
    json: JsonOpt = False,
) -> None:
    """Format schedules in the canonical form, in place. Attributes without effect are dropped.

    If a file does not parse, it and all others of the same call are left unchanged.
    """
    line: CommandLine = ctx.obj
    sources = [_read(line, name) for name in files]
    printed = [print_schedule(canonical(parse_schedule(source))) for source in sources]
    changed = [s.name for s, text in zip(sources, printed, strict=True) if s.text != text]
    for source, text in zip(sources, printed, strict=True):
        if diff or stdout or source.name == "<stdin>":
            result = _diff(source, text) if diff else text
            if result and not json:
                show(result)
        elif not check and source.name in changed:
            write_text(line, source.name, text)
            log(f"formatted {source.name}")
    if json:
        texts = {source.name: text for source, text in zip(sources, printed, strict=True)}
        show_json(ok("fmt", changed=changed, schedules=texts))
    if check:
        for name in changed:
            log(f"{name} is not in the canonical form")
    raise typer.Exit(REJECTED if check and changed else OK)


def _read(line: CommandLine, name: str) -> Source:
    if Path(name).suffix in PROGRAMS:
        headline = f"`{name}` is a program, and `mdh fmt` formats schedules"
        raise line.fail("F107", headline, name, help="give schedules: mdh fmt S.mdh")
    return read_schedule(line, name)


def _diff(source: Source, text: str) -> str:
    lines = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*lines, source.name, source.name))
