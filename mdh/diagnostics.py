"""Diagnostics are data: a code, one sentence, labelled places, help. They are printed as text or JSON."""

import traceback
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mdh.passwords import masked
from mdh.printable import one_line, printable
from mdh.source import Span


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"
    BUG = "internal error"


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the user's text, with a message about it."""

    span: Span
    message: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message to the user.

    `headline` states the fact with the values that broke it; `labels[0]` is the primary place, the
    narrowest span; `help` says what is legal instead; `witness` holds the counter-example of an
    illegal schedule as data (two iterations, bytes, an axis), which tests verify.
    """

    code: str
    headline: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    witness: tuple[tuple[str, Any], ...] = ()
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return render_text(self)


class Failed(Exception):  # noqa: N818 - it is the outcome of a stage, not a programming error
    """A stage of the pipeline did not return its value. Holds every diagnostic that it collected."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(f"{d.code}: {d.headline}" for d in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, because processes send it to one another. Its notes are kept."""
        return Failed, self.diagnostics, self.__dict__


def labels_at(span: Span | None, message: str = "") -> tuple[Label, ...]:
    """One label; none where the place is not known."""
    return () if span is None else (Label(span, message),)


def fail(code: str, headline: str, span: Span | None = None, *, label: str = "", help: str = "") -> Failed:
    """The common case: one error at one place (`raise fail(...)`)."""
    return Failed(Diagnostic(code, headline, labels_at(span, label), help=help))


INTERNAL_ERRORS = (AssertionError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
"""Exceptions of a bug of mdh. In the tuner such an error fails the candidate, and the run continues."""


def internal_error(error: Exception) -> Failed:
    """B101, with the error and its place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return fail("B101", f"internal error: {type(error).__name__} at {where}: {error}")


def render_text(diagnostic: Diagnostic) -> str:
    """The headline, then each labelled line with carets, then notes and help; ends in a newline. Control
    characters are escaped, and newlines too where the text is one line."""
    out = [f"{diagnostic.severity}[{diagnostic.code}]: {_line(diagnostic.headline)}"]
    for label in diagnostic.labels:
        out.extend(_excerpt(label))
    out.extend(f"  = note: {printable(note)}" for note in diagnostic.notes)
    if diagnostic.help:
        out.append(f"  = help: {printable(diagnostic.help)}")
    return "\n".join(out) + "\n"


def _excerpt(label: Label) -> list[str]:
    span = label.span
    line, column = span.line, span.column
    text = span.source.line(line)
    start = column - 1
    end = min(span.end - span.start + start, len(text))
    if (told := masked(text)) != text:
        # carets stand below what comes before the password, else below the whole line
        if told[:end] != text[:end]:
            start, end = (start if told[:start] == text[:start] else 0), len(told)
        text = told
    window = max(0, start - 60) if len(text) > 160 else 0
    shown = text[window : window + 160].replace("\t", " ")
    width = max(1, end - start)
    width = min(width, max(1, len(shown) - (start - window)))
    gutter = " " * len(str(line))
    # escaped in pieces, so that the carets stand below what is shown of the span
    before, behind = start - window, start - window + width
    pieces = [printable(piece) for piece in (shown[:before], shown[before:behind], shown[behind:])]
    carets = " " * len(pieces[0]) + "^" * max(1, len(pieces[1]))
    tail = f" {_line(label.message)}" if label.message else ""
    return [
        f"{gutter}--> {one_line(span.source.name)}:{line}:{column}",
        f"{gutter} |",
        f"{line} | {''.join(pieces)}",
        f"{gutter} | {carets}{tail}",
    ]


def _line(text: str) -> str:
    return printable(text).replace("\n", "\\n")


def render_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """The same as plain data, for `--json`."""
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "headline": diagnostic.headline,
        "labels": [
            {
                "file": label.span.source.name,
                "line": label.span.line,
                "column": label.span.column,
                "length": label.span.end - label.span.start,
                "message": label.message,
            }
            for label in diagnostic.labels
        ],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "witness": dict(diagnostic.witness),
    }
