"""`mdh new`: makes a folder of the user's own from a program that comes with mdh."""

import os
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import cannot_write, write_text
from mdh.cli.options import demand_example
from mdh.machine import Machine, load_machine
from mdh.shipped import Example, ShippedSchedule
from mdh.source import Source

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_TOLD = 4
"""The most files that a message names."""
_MACHINE = "generic-cpu"
_SIZE = 64
"""Of a program that does not say its sizes, as in C its macros do."""
NameArg = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A program of `mdh examples`.",
        show_default=False,
        autocompletion=completion.example_names,
    ),
]
FolderArg = Annotated[
    str | None,
    typer.Argument(metavar="[FOLDER]", help="Where to. Default: the program's name.", show_default=False),
]
MachineOpt = Annotated[
    str,
    typer.Option(
        "--machine",
        "-m",
        metavar="NAME",
        help="The machine that the schedule is for.",
        autocompletion=completion.machines,
    ),
]
StepsOpt = Annotated[
    bool, typer.Option("--steps", help="Write the schedules of the tutorial, from plain to fast.")
]


@app.command()
def new(
    ctx: typer.Context,
    name: NameArg,
    folder: FolderArg = None,
    machine: MachineOpt = _MACHINE,
    steps: StepsOpt = False,
    json: opt.JsonOpt = False,
) -> None:
    """Make a folder with a program, a schedule for it, and notes on what to run next.

    The schedule is the shipped one for the machine, else the one that mdh derives.
    """
    line: CommandLine = ctx.obj
    one = demand_example(line, name)
    if steps and not one.steps:
        hint = "`mdh new matmul --steps` writes those of the tutorial"
        raise line.fail("F107", f"`{name}` has no steps", "--steps", help=hint)
    if steps and machine != _MACHINE:
        raise line.fail("F107", f"the steps are for `{_MACHINE}`", machine, help="leave --machine out")
    chosen = at_word(line, machine, lambda: load_machine(machine))
    target = Path(one.path.stem if folder is None else folder)
    program, own = one.path.name, f"{one.path.stem}.mdh"
    files = {program: one.text}
    sizes = _free_sizes(one)
    if steps:
        files |= {f"{step.name}.mdh": step.text for step in one.steps}
        files["README.md"] = _notes_of_steps(one, tuple(files)[1:])
    else:
        files[own] = _schedule(one, chosen, dict.fromkeys(sizes, _SIZE))
        bound = "".join(f" -D {name}={_SIZE}" for name in sizes)
        files["README.md"] = _notes(one, f"{program}{bound}", own, chosen)
    again = f"mdh new {quote(name)} {quote(f'{target}-2')}{' --steps' if steps else ''}"
    _demand_free(line, target, files, name if folder is None else folder, again)
    for file, text in files.items():
        write_text(line, target / file, text)
    if json:
        show_json(ok("new", folder=str(target), files=sorted(files), machine=chosen.name))
        return
    log(f"wrote {target}")
    show("".join(f"{target / file}\n" for file in files))
    log(f"next: cd {quote(str(target))}, then what README.md says")


def _schedule(one: Example, machine: Machine, sizes: dict[str, int]) -> str:
    """The shipped schedule `base` for the machine, else another one, else that which mdh derives."""
    fitting = [s for s in one.schedules if any(_is_for(one, s, n, machine) for n in range(len(s.uses)))]
    named = f"{one.name}/{machine.name}/base"
    found = min(fitting, key=lambda s: (s.name != named, not s.name.endswith("/base"), s.name), default=None)
    if found is not None:
        return _own_lines(one, found)
    run = import_module("mdh.pipeline").Pipeline()
    program = run.read(Source(one.source_name, one.text), defines=sizes)
    text: str = run.check(program, None, machine, machine.targets[0]).plan.text
    return f"// The schedule that mdh derived for {machine.name}.\n{text}"


def _free_sizes(one: Example) -> tuple[str, ...]:
    """The sizes that have to be bound: the C programs have values for theirs."""
    if one.path.suffix == ".c":
        return ()
    found: tuple[str, ...] = import_module("mdh.frontend.read").free_sizes(Source(one.source_name, one.text))
    return found


def _is_for(one: Example, schedule: ShippedSchedule, n: int, machine: Machine) -> bool:
    use = schedule.uses[n]
    return use.program == one.name and machine.name in use.machines


def _own_lines(one: Example, schedule: ShippedSchedule) -> str:
    """The text without the `for` and `small` lines of other programs."""
    heads = ("for ", "small ")
    rows = schedule.text.splitlines(keepends=True)
    return "".join(r for r in rows if not r.startswith(heads) or r.split()[1] == one.name)


def _demand_free(line: CommandLine, target: Path, files: dict[str, str], word: str, again: str) -> None:
    """Raises Failed F111 if files are there with other texts. again: the command for another folder."""
    yours = []
    for file, text in files.items():
        path = target / file
        try:
            if os.path.lexists(path) and path.read_bytes() != text.encode():
                yours.append(file)
        except OSError as error:
            raise cannot_write(line, path, error) from None
    if yours:
        names = ", ".join(f"`{name}`" for name in yours[:_TOLD])
        others = f" and {len(yours) - _TOLD} more" if len(yours) > _TOLD else ""
        headline = f"`{target}` has {names}{others} already, not as mdh would write: it stays as it is"
        hint = f"`{again}` makes another folder; or move what is there away"
        raise line.fail("F111", headline, word, help=hint)


def _notes(one: Example, program: str, schedule: str, machine: Machine) -> str:
    """program: the words of commands, with sizes that have to be bound."""
    device = "opencl:0" if machine.kind == "cpu" else "cuda:0"
    both = f"{program} --schedule {schedule}"
    return f"""# {one.name}

{one.about}.

`{one.path.name}` says what to compute, and `{schedule}` how to split the work over the cores and memories of
a machine. Run these here, and change `{schedule}` between them:

    mdh check {both}
    mdh run {both} --device {device} --check
    mdh explain {both} --html page.html
    mdh compare {program} -s {schedule} -s default --device {device}

`mdh check` says whether the schedule is legal, and shows what is wrong where it is not. `mdh run --check`
compares the result with the C. `page.html` draws the tiles. `mdh compare` times your schedule beside the one
that mdh derives.

Write `?` for a number that you do not know, and let mdh search for it:

    mdh tune {both} --device {device} --budget 1m -o tuned

`mdh compile` writes the kernel as a folder that a C compiler builds without mdh:

    mdh compile {both} -o out
"""


def _notes_of_steps(one: Example, steps: tuple[str, ...]) -> str:
    return f"""# {one.name} in {len(steps)} steps

{one.about}.

Each of {steps[0]} to {steps[-1]} changes one thing in the schedule before it. Its first line says what. See
what it brings on your CPU, at sizes that are small enough for the slow ones:

    mdh compare {one.path.name} -s . -D M=512 -D N=512 -D K=512 --device opencl:0

Two schedules side by side, and the tiles of one as a page and as a picture:

    mdh explain {steps[0]} {steps[1]}
    mdh explain {one.path.name} --schedule {steps[-1]} --html page.html
    mdh explain {one.path.name} --schedule {steps[-1]} -D M=96 -D N=128 -D K=64 --svg picture.svg
"""
