"""Diagnostics as a SARIF 2.1.0 log, which code hosts and editors read.

A message with a place in a file is a result; others, such as those about the command line, are notifications
of the invocation, because readers demand a file of each result. Columns are characters, as in all of mdh.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mdh.diagnostics import Diagnostic, Label, Severity
from mdh.edits import Answer, Edit, answers
from mdh.printable import printable
from mdh.release import release
from mdh.report.pages import page_of, plain
from mdh.source import Source, Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.NOTE: "note", Severity.WARNING: "warning", Severity.ERROR: "error", Severity.BUG: "error",
}  # fmt: skip
_WIDTH = 80
"""Characters of a line of a page's plain text."""
Fixes = Sequence[tuple[Diagnostic, Answer]]
"""Changes beside those that messages name themselves."""


def sarif_log(diagnostics: Sequence[Diagnostic], fixes: Fixes = (), *, exit_code: int = 0) -> dict[str, Any]:
    """The log of one call. exit_code: of the process."""
    results = [d for d in diagnostics if in_file(d)]
    told = [d for d in diagnostics if not in_file(d)]
    rules, notices = _codes(results), _codes(told)
    driver = {
        "name": "mdh",
        "version": release(),
        "rules": [_descriptor(code) for code in rules],
        **({"notifications": [_descriptor(code) for code in notices]} if notices else {}),
    }
    invocation = {
        # whether mdh could do its work, and not whether the input is right
        "executionSuccessful": all(d.severity is not Severity.BUG for d in diagnostics) and not told,
        "exitCode": exit_code,
        **({"toolExecutionNotifications": [_notification(d, notices) for d in told]} if told else {}),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(d, rules, [fix for of, fix in fixes if of == d]) for d in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def in_file(d: Diagnostic) -> bool:
    """Whether the message points at a place in a file."""
    return any(is_file(x.span.source) for x in d.labels)


def is_file(source: Source) -> bool:
    """Names such as `<command line>` are of other texts."""
    return not (source.name.startswith("<") and source.name.endswith(">"))


def place_of(span: Span) -> str:
    """Where a text without a file is wrong: a command line is one line, standard input may be many."""
    name = span.source.name
    return name if "\n" not in span.source.text.rstrip("\n") else f"{name}:{span.line}:{span.column}"


def _codes(diagnostics: Iterable[Diagnostic]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(d.code for d in diagnostics))


def _descriptor(code: str) -> dict[str, Any]:
    page = page_of(code)
    if page is None:
        return {"id": code}
    title = page.partition("\n")[0].removeprefix("# ").removeprefix(f"{code}: ")
    return {
        "id": code,
        "shortDescription": {"text": title},
        "help": {"text": plain(page, _WIDTH), "markdown": page},
    }


def _reference(code: str, codes: tuple[str, ...]) -> dict[str, Any]:
    return {"id": code, "index": codes.index(code)}


def _notification(d: Diagnostic, codes: tuple[str, ...]) -> dict[str, Any]:
    text = _sentences(d, d.labels)
    return {"descriptor": _reference(d.code, codes), "level": _LEVELS[d.severity], "message": {"text": text}}


def _result(d: Diagnostic, codes: tuple[str, ...], more: Sequence[Answer]) -> dict[str, Any]:
    first = next(x for x in d.labels if is_file(x.span.source))
    others = [x for x in d.labels if x is not first]
    elsewhere = [x for x in others if not is_file(x.span.source)]
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": codes.index(d.code),
        "level": _LEVELS[d.severity],
        "message": {"text": _sentences(d, [first, *elsewhere])},
        "locations": [{"physicalLocation": _location(first.span)}],
    }
    places = [x for x in others if is_file(x.span.source)]
    related = [
        {"id": n, "physicalLocation": _location(x.span), "message": {"text": printable(x.message or "here")}}
        for n, x in enumerate(places, 1)
    ]
    if related:
        result["relatedLocations"] = related
    fixes = [_fix(one) for one in (*answers(d, first.span), *more) if one.edits]
    if fixes:
        result["fixes"] = fixes
    return result


def _sentences(d: Diagnostic, labels: Sequence[Label]) -> str:
    """The message with what labels, notes and help say, a line each."""
    rows = [d.headline]
    for x in labels:
        place = "" if is_file(x.span.source) else f"`{x.span.text}` in {place_of(x.span)}"
        rows.append(": ".join(part for part in (place, x.message) if part))
    rows += [f"note: {note}" for note in d.notes]
    rows += [f"help: {d.help}"] if d.help else []
    return printable("\n".join(row for row in rows if row))


def _location(span: Span) -> dict[str, Any]:
    return {"artifactLocation": {"uri": uri_of(span.source.name)}, "region": _region(span)}


def uri_of(name: str) -> str:
    """The URI of a file; relative if the name is, and does not lead up."""
    path = os.path.normpath(name)
    if os.path.isabs(path) or path.startswith(".."):
        return Path(path).absolute().as_uri()
    return quote(os.fsencode(path))


def _region(span: Span) -> dict[str, int]:
    """The end is the column behind the last character."""
    line, column = span.source.position(span.start)
    last, behind = span.source.position(max(span.start, span.end))
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": behind}


def _fix(answer: Answer) -> dict[str, Any]:
    by_file: dict[str, list[Edit]] = {}
    for edit in answer.edits:
        by_file.setdefault(edit[0].source.name, []).append(edit)
    files = [
        {
            "artifactLocation": {"uri": uri_of(name)},
            "replacements": [
                {"deletedRegion": _region(span), "insertedContent": {"text": text}} for span, text in edits
            ],
        }
        for name, edits in by_file.items()
    ]
    return {"description": {"text": printable(answer.title)}, "artifactChanges": files}
