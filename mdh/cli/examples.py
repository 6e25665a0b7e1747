"""`mdh examples`: lists the programs that come with mdh, or shows one with its schedules."""

import re
from importlib import import_module
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Annotated, Any

import typer

from mdh.cli import completion
from mdh.cli.command_line import CommandLine
from mdh.cli.console import ok, show, show_json
from mdh.cli.options import JsonOpt, demand_example
from mdh.shipped import Example, ShippedSchedule
from mdh.shipped import examples as shipped
from mdh.source import Source

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_SIZE = re.compile(r"^#define (\w+) (\w+)$", re.MULTILINE)
_LEAST = 24
"""Characters of a column for what a program computes. A narrower terminal shows it below the name."""
_NARROWEST = 12
NameArg = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="A program of the list.",
        show_default=False,
        autocompletion=completion.example_names,
    ),
]


@app.command()
def examples(ctx: typer.Context, name: NameArg = None, json: JsonOpt = False) -> None:
    """List the programs that come with mdh and the machines that they have schedules for; or show one.

    `mdh run NAME` runs one, and `mdh new NAME` makes a folder of your own with it.
    """
    line: CommandLine = ctx.obj
    if name is None:
        listed = [_as_json(e) for e in shipped()] if json else []
        if json:
            show_json(ok("examples", programs=listed))
        else:
            show(_list_text(get_terminal_size((110, 24)).columns))
        return
    one = demand_example(line, name)
    if json:
        show_json(ok("examples", **_as_json(one), sizes=_sizes(one), uses=_uses(one), text=one.text))
    else:
        show(_one_text(one))


def _list_text(columns: int) -> str:
    groups = [e for e in shipped() if "/" not in e.name], [e for e in shipped() if "/" in e.name]
    head = "program, what it computes, and the machines with schedules by hand; others get the default one"
    rows = _wrapped(head, columns)
    for group in groups:
        rows.append("")
        wide = max((len(e.name) for e in group), default=0)
        far = max((len(" ".join(e.machines)) for e in group), default=0)
        room = columns - wide - far - 6
        beside = room >= _LEAST
        for e in group:
            rows += _beside(e, wide, room) if beside else _below(e, columns)
    foot = "mdh run NAME runs one, mdh examples NAME shows one, mdh new NAME makes a folder of your own."
    rows += ["", *_wrapped(foot, columns)]
    return "\n".join(rows) + "\n"


def _beside(e: Example, wide: int, room: int) -> list[str]:
    """A row of a table: name, what it computes in a column of `room` characters, machines."""
    first, *rest = _wrapped(e.about, room) or [""]
    row = f"  {e.name:{wide}}  {first:{room}}  {' '.join(e.machines)}".rstrip()
    return [row, *(f"  {'':{wide}}  {text}" for text in rest)]


def _below(e: Example, columns: int) -> list[str]:
    """The same for a terminal that has no room for columns."""
    room = max(_NARROWEST, columns - 4)
    texts = [*_wrapped(e.about, room), *_wrapped(" ".join(e.machines), room)]
    return [f"  {e.name}", *(f"    {text}" for text in texts)]


def _wrapped(text: str, room: int) -> list[str]:
    """Lines of at most `room` characters, as far as words are not longer."""
    return TextWrapper(room, break_long_words=False, break_on_hyphens=False).wrap(text)


def _one_text(one: Example) -> str:
    sizes = " ".join(f"{name}={value}" for name, value in _sizes(one).items())
    rows = [f"{one.name}: {one.about}", f"  program  {one.path}"]
    rows += [f"  sizes    {sizes}; -D {sizes.partition(' ')[0]} binds one"] if sizes else []
    for machine in one.machines:
        found = [s for s in one.schedules if machine in _machines(one, s)]
        rows += ["", f"schedules for {machine}"]
        wide = max(len(s.name) for s in found)
        for s in found:
            told = "; ".join(u.sizes for u in s.uses if u.program == one.name and machine in u.machines)
            rows.append(f"  {s.name:{wide}}  {told}")
    first = next((s.name for s in one.schedules), None)
    free = "" if sizes else "".join(f" -D {name}=64" for name in _free(one))
    rows += ["", "next", f"  mdh run {one.name}{free} --check"]
    rows += [f"  mdh explain {one.name} --schedule {first}"] if first is not None else []
    rows += [f"  mdh new {one.name}"]
    return "\n".join(rows) + "\n"


def _machines(one: Example, schedule: ShippedSchedule) -> set[str]:
    return {m for u in schedule.uses if u.program == one.name for m in u.machines}


def _sizes(one: Example) -> dict[str, int]:
    """The sizes that a C program has where none are given."""
    found: dict[str, int] = {}
    for name, value in _SIZE.findall(one.text):
        if value.isdigit() or value in found:
            found[name] = found[value] if value in found else int(value)
    return found


def _free(one: Example) -> tuple[str, ...]:
    """The sizes that a user has to bind."""
    found: tuple[str, ...] = import_module("mdh.frontend.read").free_sizes(Source(one.source_name, one.text))
    return found


def _uses(one: Example) -> list[dict[str, Any]]:
    return [
        {"schedule": s.name, "about": s.about, "sizes": u.sizes, "machines": list(u.machines)}
        for s in one.schedules
        for u in s.uses
        if u.program == one.name
    ]


def _as_json(one: Example) -> dict[str, Any]:
    return {"name": one.name, "about": one.about, "file": str(one.path), "machines": list(one.machines)}
