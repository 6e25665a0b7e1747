"""The project file: `[tool.mdh]` in pyproject.toml, or mdh.toml. Every key of it is checked.

    [tool.mdh]
    machine = "h200"
    device = "cuda:0"
    warnings = "error"

The nearest file with such a table counts, in a folder or above it. What it says stands where the command line
and the environment say nothing. `[[tool.mdh.tune]]` lists programs: `mdh.tuner.project`.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from mdh.diagnostics import Diagnostic, Failed, labels_at
from mdh.schema import Meta, convert_fields
from mdh.source import Source, Span
from mdh.textfile import read_text
from mdh.tomlfile import parse_toml, shown
from mdh.wording import meant

OWN, SHARED = "mdh.toml", "pyproject.toml"
LISTED = "tune"
"""The key of the programs to tune, whose entries have keys of their own."""
_LIMIT = 1 << 18
_HEAD = re.compile(r"^[ \t]*\[\[?[ \t]*tool[ \t]*\.[ \t]*mdh\b", re.MULTILINE)
_Word = Annotated[str, Meta(pattern=r"\A(show|hide|error)\Z")]


@dataclass(frozen=True, slots=True)
class _Keys:
    machine: Annotated[str | None, Meta(description="a machine, or a path to a .toml file")] = None
    device: Annotated[str | None, Meta(description='a device, such as "cuda:0"')] = None
    warnings: Annotated[_Word, Meta(description='"show", "hide" or "error"')] = "show"


_KEYS = tuple(f.name for f in fields(_Keys))


@dataclass(frozen=True, slots=True)
class ProjectSettings(_Keys):
    """What a project says. source: its file; None where there is none."""

    source: Source | None = None
    own: bool = False

    def at(self, key: str) -> Span | None:
        """Where the file sets a key."""
        return None if self.source is None else place_of(self.source, key, own=self.own)


@dataclass(frozen=True, slots=True)
class ProjectTable:
    """The table of mdh in a file, whose keys are right. own: the file has no other tables."""

    source: Source
    values: dict[str, Any]
    own: bool


def settings(folder: Path) -> ProjectSettings:
    """Those of the nearest project file. Raises Failed F194 for what is no TOML, F217 for wrong keys."""
    found = next(project_tables(folder), None)
    if found is None:
        return ProjectSettings()
    values, _ = convert_fields(found.values, _Keys)
    if (path := values.get("machine", "")).endswith(".toml"):
        values["machine"] = str(Path(found.source.name).parent / path)
    return ProjectSettings(**values, source=found.source, own=found.own)


def project_tables(folder: Path) -> Iterator[ProjectTable]:
    """The tables of mdh, the nearest first. Raises Failed F103 to F105, F194, F217."""
    try:
        above = folder.resolve().parents
    except OSError:
        # the current folder was removed
        return
    for place in (folder, *above):
        for name in (OWN, SHARED):
            found = table_in(place / name)
            if found is not None:
                yield found


def table_in(path: Path) -> ProjectTable | None:
    """None for a file that is absent, or says nothing of mdh, or that a stranger has put into a folder of
    everybody, such as /tmp."""
    if not os.path.isfile(path) or _of_stranger(path):
        return None
    own = path.name == OWN
    if not own and "mdh" not in _readable(path):
        return None
    source = read_text(str(path), limit=_LIMIT)
    table: Any = parse_toml(source, "F194", f"`{source.name}`")
    for key in () if own else ("tool", "mdh"):
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    wrong = list(_mistakes(source, table, own=own))
    if wrong:
        raise Failed(*wrong)
    return ProjectTable(source, table, own)


def _of_stranger(path: Path) -> bool:
    try:
        shared = os.stat(path.parent).st_mode & stat.S_IWOTH
        return bool(shared) and os.stat(path).st_uid not in (0, os.geteuid())
    except OSError:
        return True


def _readable(path: Path) -> str:
    """The text of a file that others write, too: what mdh cannot read says nothing of it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= _LIMIT else ""
    except OSError:
        return ""


def _mistakes(source: Source, table: Any, *, own: bool) -> Iterator[Diagnostic]:
    where = source.name if own else "[tool.mdh]"
    if not isinstance(table, dict):
        label = labels_at(place_of(source, "mdh", own=True), "must be a table")
        yield Diagnostic("F217", f"`tool.mdh` is {shown(table)}", label, help="write [tool.mdh]")
        return
    _, wrong = convert_fields(table, _Keys)
    for key, value in table.items():
        if key == LISTED:
            continue
        place = place_of(source, key, own=own)
        if key not in _KEYS:
            known = (*_KEYS, LISTED)
            hint = meant(key, known, cutoff=0.6, otherwise=f"keys: {', '.join(known)}")
            yield Diagnostic("F217", f"{where} has no key `{key}`", labels_at(place), help=hint)
        elif key in wrong:
            said = labels_at(place, f"must be {wrong[key]}")
            yield Diagnostic("F217", f"`{key}` is {shown(value)}", said)


def place_of(source: Source, key: str, *, own: bool) -> Span:
    """Where a key of mdh's table is set: as a key, or as the name of a table."""
    name = rf"[\"']?({re.escape(key)})[\"']?"
    start = 0
    if not own and (head := _HEAD.search(source.text)):
        start = head.start()
    pattern = rf"^[ \t]*(?:\[\[?[ \t]*)?(?:(?:tool[ \t]*\.[ \t]*)?mdh[ \t]*\.[ \t]*)?{name}[ \t]*[=.\]]"
    found = re.compile(pattern, re.MULTILINE).search(source.text, start)
    return Span(source, found.start(1), found.end(1)) if found else Span(source, start, start + 1)
