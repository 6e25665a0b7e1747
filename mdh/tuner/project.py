"""The programs that `mdh tune` tunes without a file: `[[tool.mdh.tune]]` in pyproject.toml, `[[tune]]` in
mdh.toml.

    [[tool.mdh.tune]]
    file = "kernels/matmul.c"
    schedule = "kernels/matmul.mdh"
    defines = { M = 1024, N = 1024, K = 1024 }
    const = { w = "w.npy" }
    device = "cuda:0"

Paths are relative to the file that lists them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.ir.program import CONSENTS
from mdh.project import LISTED, ProjectTable, project_tables, table_in
from mdh.schema import Int64, Meta, convert_fields
from mdh.source import Source, Span
from mdh.tomlfile import shown
from mdh.wording import meant

_TOLD = 20
"""The most mistakes that are reported at once."""
_Name = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z")]
_Bindings = dict[_Name, Int64 | str]
_Files = dict[_Name, str]
_Consent = Annotated[str, Meta(pattern=rf"\A({'|'.join(CONSENTS)})\Z")]
_Flag = Annotated[bool, Meta(description="true or false")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An entry as a project file has it. defines, set: values by name. const, const_pattern: files of arrays
    that are constants."""

    file: Annotated[str, Meta(description="a path to a C file")]
    schedule: Annotated[str | None, Meta(description="a path to a schedule")] = None
    defines: Annotated[_Bindings, Meta(description="a table of names and values, { M = 1024 }")] = field(
        default_factory=dict
    )
    const: Annotated[_Files, Meta(description='a table of arrays and files, { w = "w.npy" }')] = field(
        default_factory=dict
    )
    const_pattern: Annotated[_Files, Meta(description='a table of arrays and files, { w = "mask.npy" }')] = (
        field(default_factory=dict)
    )
    set: Annotated[_Bindings, Meta(description="a table of holes and values, { bm = 64 }")] = field(
        default_factory=dict
    )
    device: Annotated[str | None, Meta(description='a device, "cuda:0"')] = None
    function: Annotated[str | None, Meta(description="the name of a C function")] = None
    strict_fp: _Flag = False
    deterministic: _Flag = False
    allow: Annotated[tuple[_Consent, ...], Meta(description='a list of words, ["tf32"]')] = ()


_KEYS = tuple(f.name for f in fields(_Row))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectEntry(_Row):
    """One program to tune. Paths can be opened as they are. source, start: where it is listed."""

    source: Source
    start: int

    def at(self, key: str) -> Span:
        return _at(self.source, self.start, key)


def listed(folder: Path) -> tuple[ProjectEntry, ...]:
    """The entries of the nearest project file that lists some, in `folder` or above it.

    Raises Failed: F193 no such file, F194 a wrong entry or no TOML, F217 wrong keys beside the entries; with
    every mistake found.
    """
    for table in project_tables(folder):
        if LISTED in table.values:
            return _of_table(table)
    raise fail(
        "F193", "no program is given, and no project file lists one",
        help="give FILE.c, FILE.tc, FILE.diesel or --einsum TEXT, or list programs under [[tool.mdh.tune]]"
        " in pyproject.toml",
    )  # fmt: skip


def listed_in(path: Path) -> tuple[ProjectEntry, ...] | None:
    """The entries of one project file; None if it is absent or lists none. Raises Failed F194, and F103 to
    F105."""
    table = table_in(path)
    return None if table is None or LISTED not in table.values else _of_table(table)


def _of_table(table: ProjectTable) -> tuple[ProjectEntry, ...]:
    return _entries(table.source, Path(table.source.name).parent, table.values[LISTED])


def _entries(source: Source, place: Path, rows: Any) -> tuple[ProjectEntry, ...]:
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


def _mistakes(source: Source, start: int, row: dict[str, Any]) -> Iterator[Diagnostic]:
    _, wrong = convert_fields(row, _Row)
    for key, value in row.items():
        if key not in _KEYS:
            hint = meant(key, _KEYS, cutoff=0.6, otherwise=f"keys: {', '.join(_KEYS)}")
            place = Label(_at(source, start, key))
            yield Diagnostic("F194", f"an entry has no key `{key}`", (place,), help=hint)
        elif key in wrong:
            label = Label(_at(source, start, key), f"must be {wrong[key]}")
            yield Diagnostic("F194", f"`{key}` is {shown(value)}", (label,))
    if "file" not in row:
        end = source.text.find("\n", start)
        label = Label(Span(source, start, len(source.text) if end < 0 else end))
        yield Diagnostic("F194", "an entry has no `file`", (label,), help='write file = "FILE.c"')


def _at(source: Source, start: int, key: str) -> Span:
    """The place where an entry sets a key."""
    found = re.compile(rf"^[ \t]*({re.escape(key)})[ \t]*[=.]", re.M).search(source.text, start)
    return Span(source, found.start(1), found.end(1)) if found else Span(source, start, start + 1)


def _entry(source: Source, start: int, place: Path, row: dict[str, Any]) -> ProjectEntry:
    paths: dict[str, Any] = {key: str(place / row[key]) for key in ("file", "schedule") if key in row}
    for key in ("const", "const_pattern"):
        paths[key] = {name: str(place / path) for name, path in row.get(key, {}).items()}
    return ProjectEntry(source=source, start=start, **{**row, **paths})
