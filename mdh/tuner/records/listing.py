"""The records of a folder, each in a few words."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.tuner.records.best import best
from mdh.tuner.records.header import Header
from mdh.tuner.records.read import Contents, failures_of, read_contents

SUFFIX = ".jsonl"
_FOREIGN = frozenset({"F170", "F101"})
"""Codes of files that are no records, or that are gone. A folder may hold any files."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One record. ok: trials with a time. failures: class -> number of trials. seconds: of the best."""

    path: str
    header: Header
    trials: int
    ok: int
    failures: tuple[tuple[str, int], ...]
    seconds: float | None


def data_folder(environment: Mapping[str, str]) -> str:
    """The folder of records that belong to no folder of the user's: `$XDG_DATA_HOME/mdh`."""
    home = environment.get("XDG_DATA_HOME") or os.path.expanduser(os.path.join("~", ".local", "share"))
    return os.path.join(home, "mdh")


def list_folder(folder: str) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
    """The records among the folder's `*.jsonl` files, by name, and remarks about those that cannot be read. A
    folder that does not exist has none."""
    found: list[Listed] = []
    remarks: list[str] = []
    for path in _files(folder):
        try:
            contents = read_contents(path)
        except Failed as failed:
            remarks.extend(d.headline for d in failed.diagnostics if d.code not in _FOREIGN)
            continue
        found.extend(listed(contents))
        remarks.extend(contents.remarks)
    return tuple(found), tuple(remarks)


def listed(contents: Contents) -> tuple[Listed, ...]:
    out = []
    for section in contents.sections:
        trials, first = section.trials, best(section.trials)
        ok, failures = sum(t.outcome.failure is None for t in trials), tuple(failures_of(trials).items())
        seconds = None if first is None else first.outcome.seconds
        out.append(Listed(contents.path, section.header, len(trials), ok, failures, seconds))
    return tuple(out)


def _files(folder: str) -> Iterable[str]:
    place = Path(folder)
    if not os.path.isdir(place):
        return ()
    names = sorted(p.name for p in place.iterdir() if p.suffix == SUFFIX and os.path.isfile(p))
    return tuple(names if folder == "." else (os.path.join(folder, name) for name in names))
