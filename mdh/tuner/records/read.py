"""Reads records as values. A damaged line is left out, counted and named; it is never loaded wrong."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from mdh.diagnostics import fail
from mdh.results.trial import Trial
from mdh.tuner.records.form import SCHEMA, header_from, trial_from, without_passwords
from mdh.tuner.records.header import Header
from mdh.tuner.records.line import BadLineError
from mdh.tuner.records.scan import Scan, scan_file

VERSION = re.compile(r"mdh\.record/(\d{1,9})(\.\d{1,9})?")
_NAMED = 5


@dataclass(frozen=True, slots=True)
class RecordSection:
    """The trials of one header."""

    header: Header
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a file; merged files have several sections. orphans: (mark, trials) whose header is
    lost. remarks: sentences about what was left out."""

    path: str
    sections: tuple[RecordSection, ...]
    orphans: tuple[tuple[str, tuple[Trial, ...]], ...]
    remarks: tuple[str, ...]


def read_record(path: str, mark: str | None = None) -> tuple[Header, tuple[Trial, ...], tuple[str, ...]]:
    """The record of a file: its header, its trials, and remarks about what was left out. mark: selects a
    record of a merged file by the first digits of its key.

    Raises Failed: F101 to F103 and F105 (the file), F170 not a record, F171 of a newer mdh, F174 its header
    is damaged, F176 none or several records have that mark.
    """
    contents = read_contents(path)
    section = chosen(contents, mark)
    return section.header, section.trials, contents.remarks


def read_contents(path: str) -> Contents:
    """Every record of a file. Raises Failed as `read_record` does, except F176."""
    contents = read_lines(path)
    if not contents.sections:
        raise fail(
            "F174", f"`{path}` has lost its header: {_trials(sum(len(t) for _, t in contents.orphans))} of a"
            " tuning that it does not name", help="tune the same program with this record again: mdh takes"
            " the trials up and writes the header anew",
        )  # fmt: skip
    return contents


def read_lines(path: str) -> Contents:
    """Like `read_contents`, but also reads a file that has lost its headers: its trials are orphans."""
    return contents_of(path, scan_file(path))


def chosen(contents: Contents, mark: str | None) -> RecordSection:
    """The section of that mark, or the only one. Raises Failed F176."""
    found = [s for s in contents.sections if s.header.key.startswith(mark or "")]
    if len(found) == 1:
        return found[0]
    held = ", ".join(f"{s.header.mark} ({s.header.program} on {s.header.machine})" for s in contents.sections)
    if mark is None:
        headline = f"`{contents.path}` holds {len(found)} records, and one is needed"
    else:
        have = f"{len(found)} records of `{contents.path}` have keys that begin"
        none = f"no record of `{contents.path}` has a key that begins"
        headline = f"{have if found else none} with `{mark}`"
    raise fail("F176", headline, help=f"it holds {held}")


def contents_of(path: str, scan: Scan) -> Contents:
    """The contents of scanned lines. Raises Failed: F170 not a record, F171 of a newer mdh."""
    headers: dict[str, Header] = {}
    trials: dict[str, list[Trial]] = {}
    wrong = [(bad.number, bad.reason) for bad in scan.bad]
    for line in scan.good:
        fields = line.fields
        try:
            if "schema" in fields:
                refuse_newer(path, fields["schema"])
                header = header_from(fields)
                headers.setdefault(header.mark, header)
            elif "trial" in fields:
                trial = trial_from(fields)
                trials.setdefault(fields["record"], []).append(trial)
        except BadLineError as error:
            wrong.append((line.number, str(error)))
    if not headers and not trials:
        _refuse_foreign(path, scan, sorted(wrong))
    sections = tuple(RecordSection(h, tuple(trials.pop(mark, ()))) for mark, h in headers.items())
    orphans = tuple((mark, tuple(lost)) for mark, lost in trials.items())
    remarks = [
        *_about_bad(path, sorted(wrong)), *_about_torn(path, scan), *_about_orphans(path, orphans),
        *_about_passwords(path, scan),
    ]  # fmt: skip
    return Contents(path, sections, orphans, tuple(remarks))


def refuse_newer(path: str, schema: object) -> None:
    """Raises Failed F171 for a schema of a later version."""
    version = VERSION.fullmatch(schema) if isinstance(schema, str) else None
    if version and int(version[1]) > 1:
        raise fail(
            "F171", f"`{path}` is a record of a newer mdh: its schema is `{schema}`",
            help=f"update mdh: this one reads `{SCHEMA}`; the file was left as it is",
        )  # fmt: skip
    if version is None:
        raise BadLineError(f"its schema is not `{SCHEMA}`")


def _refuse_foreign(path: str, scan: Scan, wrong: list[tuple[int, str]]) -> None:
    """Raises Failed for a file of which nothing can be loaded: it is newer, empty, or no record."""
    torn = (scan.torn,) if scan.torn else ()
    for bad in (*scan.bad, *torn):
        with suppress(BadLineError):
            refuse_newer(path, bad.schema)
    first = wrong[0] if wrong else (torn[0].number, torn[0].reason) if torn else None
    what = "is empty, not a record" if not first and not scan.whole else "is not a record of mdh"
    why = f": line {first[0]}: {first[1]}" if first else ""
    raise fail("F170", f"`{path}` {what}{why}", help=f"a record begins with a line of schema `{SCHEMA}`")


def _about_bad(path: str, wrong: list[tuple[int, str]]) -> list[str]:
    if not wrong:
        return []
    named = ", ".join(f"line {n}: {why}" for n, why in wrong[:_NAMED])
    more = f", and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    lines = "1 line is" if len(wrong) == 1 else f"{len(wrong):,} lines are"
    return [f"`{path}`: {lines} damaged and left out ({named}{more})"]


def _about_torn(path: str, scan: Scan) -> list[str]:
    return [f"`{path}`: its last line was cut off after {scan.torn.size:,} bytes"] if scan.torn else []


def _about_orphans(path: str, orphans: tuple[tuple[str, tuple[Trial, ...]], ...]) -> list[str]:
    return [
        f"`{path}`: {_trials(len(lost))} of record {mark}, whose header is lost" for mark, lost in orphans
    ]


def _about_passwords(path: str, scan: Scan) -> list[str]:
    if all(without_passwords(line.fields) == line.fields for line in scan.good):
        return []
    return [f"`{path}` holds the password of a URL: `mdh db merge NEW {path}` writes a copy without it"]


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count:,} trials"


def failures_of(trials: tuple[Trial, ...]) -> dict[str, int]:
    """Failure class -> number of trials, the most frequent first."""
    counts = Counter(str(t.outcome.failure) for t in trials if t.outcome.failure is not None)
    return dict(counts.most_common())
