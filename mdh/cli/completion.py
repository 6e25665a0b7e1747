"""What a shell completes values by: programs, schedules, machines, devices, codes, files of their endings.

Each function takes the part of the word that is there, and returns whole words that begin with it. What takes
long to import is imported in it: `mdh --help` imports this module.
"""

import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from mdh.shipped import example_called, examples, schedules
from mdh.textfile import PROGRAMS

DEVICES = ("c", "cuda:0", "oclgrind", "opencl:0")
FORMATS = ("text", "json", "sarif", "github")
TARGETS = ("c", "cuda", "opencl")


def programs(incomplete: str) -> list[str]:
    return [*_files(incomplete, PROGRAMS), *example_names(incomplete)]


def example_names(incomplete: str) -> list[str]:
    return _beginning(incomplete, (e.name for e in examples()))


def subjects(incomplete: str) -> list[str]:
    """Of `mdh explain`: programs, schedules, codes."""
    codes = _beginning(incomplete, import_module("mdh.report.pages").page_codes()) if incomplete else []
    return [*programs(incomplete), *_files(incomplete, (".mdh",)), *codes]


def schedule_names(incomplete: str, args: list[str]) -> list[str]:
    """Files, and what is shipped: for the program among the words so far, or of the name so far."""
    program = next((e for word in args if (e := example_called(word)) is not None), None)
    shipped = program.schedules if program is not None else schedules() if incomplete else ()
    return [*_files(incomplete, (".mdh",)), *_beginning(incomplete, (s.name for s in shipped))]


def compared_names(incomplete: str, args: list[str]) -> list[str]:
    """Of `mdh compare --schedule`."""
    return [*_beginning(incomplete, ("default",)), *schedule_names(incomplete, args)]


def machines(incomplete: str) -> list[str]:
    return [
        *_beginning(incomplete, import_module("mdh.machine").machine_names()),
        *_files(incomplete, (".toml",)),
    ]


def devices(incomplete: str) -> list[str]:
    return _beginning(incomplete, DEVICES)


def formats(incomplete: str) -> list[str]:
    return _beginning(incomplete, FORMATS)


def targets(incomplete: str) -> list[str]:
    return _beginning(incomplete, TARGETS)


def baselines(incomplete: str) -> list[str]:
    return _beginning(incomplete, import_module("mdh.compare.library").NAMES)


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _files(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Files with one of the endings, and folders, which end in `/`; hidden ones only where a dot is there."""
    folder, _, start = incomplete.rpartition("/")
    above = f"{folder}/" if "/" in incomplete else ""
    try:
        names = sorted(os.listdir(above or "."))
    except OSError:
        return []
    fitting = (n for n in names if n.startswith(start) and (start or not n.startswith(".")))
    out = []
    for name in fitting:
        if os.path.isdir(f"{above}{name}"):
            out.append(f"{above}{name}/")
        elif Path(name).suffix in endings:
            out.append(f"{above}{name}")
    return out
