"""Diagnostics as workflow commands of GitHub Actions, which shows them at the lines of a change."""

import os
from collections.abc import Mapping, Sequence

from mdh.diagnostics import Diagnostic, Severity
from mdh.printable import one_line, printable
from mdh.report.sarif import is_file, place_of
from mdh.source import Span

_COMMANDS = {
    Severity.NOTE: "notice", Severity.WARNING: "warning", Severity.ERROR: "error", Severity.BUG: "error",
}  # fmt: skip
WORKSPACE = "GITHUB_WORKSPACE"
"""The variable that names the folder of the checkout. Names of files are relative to it."""


def github_text(diagnostics: Sequence[Diagnostic], environment: Mapping[str, str] = os.environ) -> str:
    """One line for each diagnostic."""
    return "".join(f"{_command(d, environment.get(WORKSPACE, ''))}\n" for d in diagnostics)


def _command(d: Diagnostic, workspace: str) -> str:
    place = next((x.span for x in d.labels if is_file(x.span.source)), None)
    given = {**({} if place is None else _place(place, workspace)), "title": f"mdh {d.code}"}
    properties = ",".join(f"{name}={_property(value)}" for name, value in given.items())
    return f"::{_COMMANDS[d.severity]} {properties}::{_data(_message(d, place))}"


def _place(span: Span, workspace: str) -> dict[str, str]:
    line, column = span.source.position(span.start)
    # the place of the last character, which is behind the first
    last, end = span.source.position(max(span.start, span.end - 1))
    found = {"file": one_line(_below(span.source.name, workspace)), "line": str(line)}
    # columns may be given only on one line
    return found | ({"endLine": str(last)} if last > line else {
        "endLine": str(last), "col": str(column), "endColumn": str(end + 1),
    })  # fmt: skip


def _below(name: str, workspace: str) -> str:
    """The name relative to the workspace, if the file is in it."""
    if not workspace:
        return name
    path = os.path.relpath(os.path.abspath(name), workspace)
    return name if path.startswith("..") else path


def _message(d: Diagnostic, place: Span | None) -> str:
    rows = [d.headline]
    for x in d.labels:
        at = x.span
        file = is_file(at.source)
        where = f"{at.source.name}:{at.line}:{at.column}" if file else f"`{at.text}` in {place_of(at)}"
        said = x.message if at is place else f"{where}: {x.message}" if x.message else where
        rows += [said] if said else []
    rows += [f"note: {note}" for note in d.notes]
    rows += [f"help: {d.help}"] if d.help else []
    return printable("\n".join(rows))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
