"""Which program a schedule belongs to. docs/editors.md states the rule.

The first that there is: the setting `mdh.program`; a file that is called as a program in the header; one that
is called as the schedule, or as a folder around it; a program in the schedule's folder that has a function of
that name; the only program there. Files are looked for in the folder of the schedule and in those above it
up to the workspace, each with the folders directly inside of it.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.editor.headers import Headers
from mdh.editor.settings import Settings
from mdh.editor.texts import SCHEDULE, Texts
from mdh.frontend.read import function_names
from mdh.machine import machine_names
from mdh.textfile import EINSUM, PROGRAMS

ENDINGS = tuple(ending for ending in PROGRAMS if ending != EINSUM)
MOST_FOLDERS = 100
"""The most folders directly inside of one that are looked into. A folder of a repository has fewer."""
MOST_ABOVE = 8
"""The most folders above a schedule that are looked into."""
MOST_SCHEDULES = 400
"""The most schedules of a program that are looked at."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The program of a schedule. function: the one that is meant, if the file has several. why: how it was
    found, in words."""

    path: str
    function: str | None
    why: str


def owner_of(
    path: str, headers: Headers, settings: Settings, texts: Texts, roots: Sequence[str]
) -> Owner | None:
    """The program of the schedule at `path`; None if none is found. roots: folders of the workspace."""
    if settings.program is not None:
        named = _resolved(settings.program, path, roots)
        return Owner(named, _function(named, headers, settings, texts), "by the setting `mdh.program`")
    folders = tuple(_places(path, roots))
    for name, why in _names(path, headers):
        for folder in folders:
            for ending in ENDINGS:
                file = os.path.join(folder, name + ending)
                if texts.there(file):
                    return Owner(file, _function(file, headers, settings, texts), why)
    return _beside(path, headers, settings, texts)


def schedules_of(path: str, texts: Texts, roots: Sequence[str]) -> tuple[str, ...]:
    """Schedules that may belong to a program, by their names: the one beside it that is called as it is, and
    those in `schedules/PROGRAM`. Open ones come first."""
    name = Path(path).stem
    found = [os.path.splitext(path)[0] + SCHEDULE]
    for folder in _above(path, roots):
        for place in (os.path.join(folder, "schedules", name), os.path.join(folder, name)):
            for depth in ("", "*/"):
                found += sorted(map(str, Path(place).glob(f"{depth}*{SCHEDULE}")))[:MOST_SCHEDULES]
    there = [p for p in dict.fromkeys(found) if texts.there(p)]
    return tuple(sorted(there, key=lambda p: p not in texts.open))


def _resolved(program: str, path: str, roots: Sequence[str]) -> str:
    """A path of the settings: in the workspace, else beside the schedule."""
    bases = [*roots, os.path.dirname(path)]
    found = [os.path.normpath(os.path.join(base, os.path.expanduser(program))) for base in bases]
    return next((p for p in found if os.path.isfile(p)), found[0])


def _names(path: str, headers: Headers) -> Iterator[tuple[str, str]]:
    for name in headers.programs:
        yield name, f"the header names `{name}`"
    file = Path(path)
    yield file.stem, "it is called as the schedule"
    for folder in (file.parent, file.parent.parent):
        if folder.name and folder.name not in machine_names():
            yield folder.name, f"the schedule is in the folder `{folder.name}`"


def _above(path: str, roots: Sequence[str]) -> Iterator[str]:
    """The folder of a file, and those above it as far as the workspace goes. Outside of a workspace, three
    more: `schedules/PROGRAM/MACHINE` has as many below the folder that holds the programs."""
    folder = Path(path).parent
    root = next((r for r in map(Path, roots) if folder.is_relative_to(r)), None)
    most = 3 if root is None else MOST_ABOVE
    for place in [folder, *folder.parents][: most + 1]:
        yield str(place)
        if place == root:
            return


def _places(path: str, roots: Sequence[str]) -> Iterator[str]:
    for folder in _above(path, roots):
        yield folder
        with suppress(OSError):
            inside = sorted(e.path for e in os.scandir(folder) if e.name[:1] != "." and e.is_dir())
            yield from inside[:MOST_FOLDERS]


def _beside(path: str, headers: Headers, settings: Settings, texts: Texts) -> Owner | None:
    """A program in the schedule's folder: one with a function that the header names, else the only one."""
    folder = os.path.dirname(path)
    files = [p for p in texts.open if os.path.dirname(p) == folder]
    with suppress(OSError):
        files += [os.path.join(folder, name) for name in os.listdir(folder)]
    programs = sorted({p for p in files if p.endswith(ENDINGS) and texts.there(p)})
    for name in headers.programs:
        pattern = re.compile(rf"\b{re.escape(name)}\s*\(")
        for file in programs[:MOST_FOLDERS]:
            with suppress(Failed):
                if pattern.search(texts.read(file).text) and name in _functions(file, texts):
                    return Owner(file, name, f"it has the function `{name}`, which the header names")
    if len(programs) == 1:
        found = programs[0]
        return Owner(found, _function(found, headers, settings, texts), "it is the only program there")
    return None


def _functions(path: str, texts: Texts) -> tuple[str, ...]:
    try:
        return function_names(texts.read(path))
    except Failed:
        return ()


def _function(path: str, headers: Headers, settings: Settings, texts: Texts) -> str | None:
    """Which function of a file is meant: the setting, else one that the header names if there are several."""
    if settings.function is not None:
        return settings.function
    names = _functions(path, texts)
    return next((n for n in headers.programs if n in names), None) if len(names) > 1 else None
