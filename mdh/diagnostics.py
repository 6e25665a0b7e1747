"""Diagnostics are data: a code, one sentence, labelled places, help. They are printed as text or JSON."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import Any

from mdh.passwords import masked
from mdh.printable import cells, one_line, printable
from mdh.source import Span


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"
    BUG = "internal error"


class Accent(Enum):
    """What a piece of a printed diagnostic is, besides its severity."""

    HEADLINE = auto()
    FRAME = auto()
    NOTE = auto()
    HELP = auto()


Paint = Callable[[str, Accent | Severity], str]
"""A text in the style of its part."""


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


def _plain(text: str, _accent: Accent | Severity) -> str:
    return text


def render_text(diagnostic: Diagnostic, paint: Paint = _plain, columns: int | None = None) -> str:
    """The headline, then each labelled line with carets, then notes and help; ends in a newline. Control
    characters are escaped, and newlines too where the text is one line. paint: styles a piece by what it is.
    columns: of the terminal; None where lines may have any length."""
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity)
    out = [f"{head}{paint(f': {_line(diagnostic.headline)}', Accent.HEADLINE)}"]
    for number, label in enumerate(diagnostic.labels):
        out.extend(_excerpt(label, paint, diagnostic.severity if number == 0 else Severity.NOTE, columns))
    equals = paint("=", Accent.FRAME)
    out.extend(f"  {equals} {paint('note:', Accent.NOTE)} {printable(note)}" for note in diagnostic.notes)
    if diagnostic.help:
        out.append(f"  {equals} {paint('help:', Accent.HELP)} {printable(diagnostic.help)}")
    return "\n".join(out) + "\n"


_WIDEST, _NARROWEST = 160, 20
"""Characters of a line of the user's text that are shown."""


def _excerpt(label: Label, paint: Paint, role: Severity, columns: int | None) -> list[str]:
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
    gutter = " " * len(str(line))
    room = _WIDEST if columns is None else min(_WIDEST, max(_NARROWEST, columns - len(gutter) - 4))
    window = max(0, start - room * 3 // 8) if len(text) > room else 0
    shown = text[window : window + room].replace("\t", " ")
    width = max(1, end - start)
    width = min(width, max(1, len(shown) - (start - window)))
    # escaped in pieces, so that the carets stand below what is shown of the span
    before, behind = start - window, start - window + width
    pieces = [printable(piece) for piece in (shown[:before], shown[before:behind], shown[behind:])]
    carets = paint("^" * max(1, cells(pieces[1])), role)
    tail = f" {paint(_line(label.message), role)}" if label.message else ""
    bar = paint("|", Accent.FRAME)
    return [
        f"{gutter}{paint('-->', Accent.FRAME)} {one_line(span.source.name)}:{line}:{column}",
        f"{gutter} {bar}",
        f"{paint(str(line), Accent.FRAME)} {bar} {''.join(pieces)}",
        f"{gutter} {bar} {' ' * cells(pieces[0])}{carets}{tail}",
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
