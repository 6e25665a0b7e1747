"""What a project lists for `mdh tune` without a file: `[[tool.mdh.tune]]` in pyproject.toml, `[[tune]]` in
mdh.toml.

    [[tool.mdh.tune]]
    file = "kernels/matmul.c"
    schedule = "kernels/matmul.mdh"
    defines = { M = 1024, N = 1024, K = 1024 }
    device = "cuda:0"

Paths are relative to the file that lists them.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.source import Source, Span
from mdh.textfile import read_text
from mdh.tomlfile import is_count, parse_toml, shown

NAMES = ("mdh.toml", "pyproject.toml")
"""The first that lists something counts."""
_LIMIT = 1 << 18
_TOLD = 20
"""Mistakes that are told at once."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEYS: dict[str, tuple[type, str]] = {
    "file": (str, "a path to a C file"),
    "schedule": (str, "a path to a schedule"),
    "defines": (dict, "a table of names and values, { M = 1024 }"),
    "set": (dict, "a table of holes and values, { bm = 64 }"),
    "device": (str, 'a device, "cuda:0"'),
    "function": (str, "the name of a C function"),
    "strict_fp": (bool, "true or false"),
    "deterministic": (bool, "true or false"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One program to tune; paths are as they are to be opened. source, start: where it is listed."""

    source: Source
    start: int
    file: str
    schedule: str | None = None
    defines: tuple[tuple[str, int | str], ...] = ()
    sets: tuple[tuple[str, int | str], ...] = ()
    device: str | None = None
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False

    def at(self, key: str) -> Span:
        return _at(self.source, self.start, key)


def listed(folder: Path) -> tuple[Entry, ...]:
    """The entries of the nearest project file that lists some, in `folder` or above it.

    Raises Failed: F193 no such file, F194 a wrong entry or no TOML, with every mistake found.
    """
    for place in (folder, *folder.resolve().parents):
        for name in NAMES:
            found = listed_in(place / name)
            if found is not None:
                return found
    raise fail(
        "F193", "no C file is given, and no project file lists one",
        help="give FILE.c, or list programs under [[tool.mdh.tune]] in pyproject.toml",
    )  # fmt: skip


def listed_in(path: Path) -> tuple[Entry, ...] | None:
    """The entries of one project file; None where it is absent or lists none. Raises Failed F194, F103 to
    F105."""
    if not os.path.isfile(path):
        return None
    source = read_text(str(path), limit=_LIMIT)
    rows = _rows(source, own=path.name == "mdh.toml")
    return None if rows is None else _entries(source, path.parent, rows)


def _rows(source: Source, *, own: bool) -> Any:
    """What stands under the key; None where it is absent."""
    table: Any = parse_toml(source, "F194", f"`{source.name}`")
    for key in ("tune",) if own else ("tool", "mdh", "tune"):
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _entries(source: Source, place: Path, rows: Any) -> tuple[Entry, ...]:
    blocks = [
        m.start() for m in re.finditer(r"^[ \t]*\[\[[ \t]*(?:tool\.mdh\.)?tune[ \t]*\]\]", source.text, re.M)
    ]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        found = re.search(r"\btune\b", source.text)
        span = Span(source, found.start(), found.end()) if found else Span(source, 0, 1)
        raise fail(
            "F194", "`tune` is no list of tables", span, help='write [[tool.mdh.tune]], then file = "FILE.c"'
        )
    blocks += [0] * (len(rows) - len(blocks))
    every = (d for row, start in zip(rows, blocks, strict=False) for d in _mistakes(source, start, row))
    wrong = list(islice(every, _TOLD))
    if wrong:
        raise Failed(*wrong)
    return tuple(_entry(source, at, place, row) for row, at in zip(rows, blocks, strict=False))


def _mistakes(source: Source, start: int, row: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for key, value in row.items():
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            said = f"did you mean `{near[0]}`?" if near else f"keys: {', '.join(_KEYS)}"
            yield Diagnostic(
                "F194", f"an entry has no key `{key}`", (Label(_at(source, start, key)),), help=said
            )
        elif not _fits(key, value):
            label = Label(_at(source, start, key), f"must be {_KEYS[key][1]}")
            yield Diagnostic("F194", f"`{key}` is {shown(value)}", (label,))
    if "file" not in row:
        end = source.text.find("\n", start)
        label = Label(Span(source, start, len(source.text) if end < 0 else end))
        yield Diagnostic("F194", "an entry has no `file`", (label,), help='write file = "FILE.c"')


def _fits(key: str, value: Any) -> bool:
    kind = _KEYS[key][0]
    if kind is dict and isinstance(value, dict):
        return all(_NAME.fullmatch(n) and (is_count(v) or isinstance(v, str)) for n, v in value.items())
    return isinstance(value, kind)


def _at(source: Source, start: int, key: str) -> Span:
    """Where an entry sets a key."""
    found = re.compile(rf"^[ \t]*({re.escape(key)})[ \t]*[=.]", re.M).search(source.text, start)
    return Span(source, found.start(1), found.end(1)) if found else Span(source, start, start + 1)


def _entry(source: Source, start: int, place: Path, row: Mapping[str, Any]) -> Entry:
    schedule = row.get("schedule")
    return Entry(
        source,
        start,
        str(place / row["file"]),
        None if schedule is None else str(place / schedule),
        tuple(row.get("defines", {}).items()),
        tuple(row.get("set", {}).items()),
        row.get("device"),
        row.get("function"),
        row.get("strict_fp", False),
        row.get("deterministic", False),
    )
