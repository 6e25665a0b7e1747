"""The options that verbs share, each declared once, and what the user asked for by them."""

import os
from dataclasses import dataclass
from enum import StrEnum, auto
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from mdh.cli import completion
from mdh.cli.command_line import CommandLine
from mdh.cli.console import log
from mdh.ir.program import CALLS
from mdh.shipped import Example, example_called, near_examples
from mdh.textfile import shipped_program


class Warned(StrEnum):
    """What becomes of warnings: --no-warnings hides them, and -W error makes errors of them."""

    SHOWN = auto()
    HIDDEN = auto()
    REFUSED = auto()

    @staticmethod
    def asked(line: CommandLine, word: str | None, *, hidden: bool) -> "Warned":
        """word: the value of -W. Without either option, what the project file says. Raises Failed F107 for
        another one than `error`, and for both options; F217 for wrong keys of the project file."""
        if word is None and hidden:
            return Warned.HIDDEN
        if word is None:
            said: str = import_module("mdh.project").settings(Path()).warnings
            return _OF_PROJECTS[said]
        if word != "error":
            raise line.fail("F107", f"`{word}` is no value of -W", word, help="give `error`")
        if hidden:
            hint = "keep -W error, which refuses a schedule with warnings, or --no-warnings"
            raise line.fail("F107", "--no-warnings and -W exclude one another", "--no-warnings", help=hint)
        return Warned.REFUSED


_OF_PROJECTS = {"show": Warned.SHOWN, "hide": Warned.HIDDEN, "error": Warned.REFUSED}


@dataclass(frozen=True, slots=True)
class Request:
    """Words as typed; nothing has been read yet. defines, sets: the words after -D and --set."""

    line: CommandLine
    file: str
    schedule: str | None = None
    target: str | None = None
    machine: str | None = None
    device: str | None = None
    defines: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False
    allow: tuple[str, ...] = ()
    warned: Warned = Warned.SHOWN

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the call reads."""
        return tuple(p for p in (self.file, self.schedule, self.machine) if p is not None)


def told_of_folder(file: str | None) -> str | None:
    """The word, with a remark where it could mean a folder, too: `mdh new matmul` makes one."""
    if file is not None and os.path.isdir(file) and (own := shipped_program(file)) is not None:
        name = Path(file) / Path(own.source_name).name
        yours = f"; `{name}` is yours" if os.path.isfile(name) else ""
        log(f"`{file}` is the program that comes with mdh{yours}")
    return file


def demand_example(line: CommandLine, name: str) -> Example:
    """The shipped program. Raises Failed F101 with the names that may be meant."""
    found = example_called(name)
    if found is None:
        near = ", ".join(f"`{n}`" for n in near_examples(name))
        hint = f"did you mean {near}?" if near else "`mdh examples` lists them"
        raise line.fail("F101", f"mdh comes with no program `{name}`", name, help=hint)
    return found


FileArg = Annotated[
    str,
    typer.Argument(
        metavar="FILE.c",
        help="The program: C, .tc, .diesel, - for C on stdin, or a name of `mdh examples`.",
        show_default=False,
        callback=told_of_folder,
        autocompletion=completion.programs,
    ),
]
EinsumOpt = Annotated[
    str | None, typer.Option("--einsum", metavar="TEXT", help="A program instead of FILE.c: 'ij,jk->ik'.")
]
"""`cli.main` puts the text in the place of the file, so that commands see no such option."""
ScheduleOpt = Annotated[
    str | None,
    typer.Option(
        "--schedule",
        "-s",
        metavar="S.mdh",
        help="The schedule; - is stdin. Default: one that mdh derives.",
        autocompletion=completion.schedule_names,
    ),
]
TargetOpt = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="Target language: cuda, opencl or c.",
        autocompletion=completion.targets,
    ),
]
MachineOpt = Annotated[
    str | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="NAME",
        help="A machine's name or a .toml file.",
        autocompletion=completion.machines,
    ),
]
MachineAtHandOpt = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="SPEC",
        help="Take the machine and target of this device.",
        autocompletion=completion.devices,
    ),
]
DeviceOpt = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="SPEC",
        help="cuda:N, opencl:N, c or oclgrind. Default: first GPU.",
        autocompletion=completion.devices,
    ),
]
DefineOpt = Annotated[
    list[str] | None,
    typer.Option(
        "-D",
        metavar="NAME=VALUE",
        help="Bind a size or define a macro.",
        autocompletion=completion.defines,
    ),
]
CONSTANTS = ("--const", "--const-pattern")
ConstOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--const",
        "--const-pattern",
        metavar="NAME=FILE.npy",
        help="Make an array a constant; with -pattern, only its zeros.",
    ),
]
"""`cli.main` makes defines of them, so that commands see no such options."""
SetOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="HOLE=VALUE",
        help="Give a named hole its value.",
        autocompletion=completion.holes,
    ),
]
FunctionOpt = Annotated[
    str | None,
    typer.Option(
        "--function",
        metavar="NAME",
        help="The function, if the file has several.",
        autocompletion=completion.functions,
    ),
]
StrictOpt = Annotated[
    bool, typer.Option("--strict-fp", help="Do not re-associate, widen or contract floats.")
]
AllowOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="WORD",
        help="Let schedules change numbers: tf32 rounds f32 factors.",
        autocompletion=completion.consents,
    ),
]
LibrariesOpt = Annotated[
    bool,
    typer.Option("--libraries", help="Let default schedules and the tuner call libraries (openblas)."),
]


def allowed(words: list[str] | None, *, libraries: bool) -> tuple[str, ...]:
    """The words of --allow, and the one that --libraries stands for."""
    return (*(words or ()), *((CALLS,) if libraries else ()))


DeterministicOpt = Annotated[
    bool, typer.Option("--deterministic", help="Refuse combine methods whose order varies.")
]
NoWarningsOpt = Annotated[
    bool, typer.Option("--no-warnings", help="Say nothing of schedules that waste the machine (P1xx).")
]
WarnOpt = Annotated[
    str | None,
    typer.Option(
        "-W",
        metavar="error",
        help="`-W error` makes errors of warnings: exit code 1.",
        autocompletion=completion.warned,
    ),
]
FormatOpt = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Diagnostics as text, json, sarif (not run) or github.",
        autocompletion=completion.formats,
    ),
]
"""`cli.main` takes it out, so that commands see no such option."""
JsonOpt = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
DumpOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--dump",
        metavar="STAGE",
        help="Print a value on stderr: a stage's, all, or lower.PASS.",
        autocompletion=completion.stages,
    ),
]
TimeOpt = Annotated[bool, typer.Option("--time", help="Print the time of each stage on stderr.")]
OutScheduleOpt = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE.mdh", help="Write the schedule without holes.")
]
OutFolderOpt = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder to write. Default: print the kernel."),
]
