"""Writes results to stdout and everything else to stderr. A closed pipe ends the program quietly.

All text passes `mdh.printable` here, also into a pipe: control characters and characters that the stream
cannot encode are escaped. JSON has its own escapes. Files are written unchanged.
"""

import json
import os
import signal
import sys
from codecs import lookup
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TextIO

import typer

from mdh.cli.exit_codes import BROKEN_PIPE
from mdh.cli.terminal import coloured, columns, paint
from mdh.diagnostics import Diagnostic, Failed, fail, render_text
from mdh.printable import fitting, json_text, printable

_remarks = ContextVar("remarks", default=True)
MOST_SHOWN = 50
"""The most diagnostics as text. Only damaged or generated schedules have so many."""
MOST_IN_JSON = 1_000
"""The most diagnostics as data, which programs read."""
MOST_CHARACTERS = 2_000
"""The most characters of one sentence; a name in it may be as long as the file."""


def capped(diagnostics: Sequence[Diagnostic], most: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The first `most` diagnostics, with long sentences cut, and the number of further ones."""
    shown = tuple(_short(d) for d in diagnostics[:most])
    return shown, len(diagnostics) - len(shown)


def _short(d: Diagnostic) -> Diagnostic:
    labels = tuple(replace(label, message=_cut(label.message)) for label in d.labels)
    notes = tuple(_cut(n) for n in d.notes)
    return replace(d, headline=_cut(d.headline), labels=labels, notes=notes, help=_cut(d.help))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def show(text: str) -> None:
    """Prints a result: text with its final newline. Raises Failed F118 if it cannot be written."""
    if sys.stdout is None:
        raise _unwritten("standard output is closed")
    try:
        sys.stdout.write(fitting(printable(text if text.endswith("\n") else text + "\n"), sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has gone (`mdh … | head`): nothing to report
        discard_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        raise lost_output(error) from error


def clear_screen() -> None:
    """Empties a terminal; does nothing where the output goes elsewhere."""
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
        sys.stdout.flush()


def lost_output(error: OSError) -> Failed:
    """F118 for an error of writing to stdout. Nothing more is written to it."""
    discard_output()
    return _unwritten(error.strerror or str(error))


def discard_output() -> None:
    """Discards buffered output. The interpreter would flush it at its end, which would fail once more."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unwritten(reason: str) -> Failed:
    return fail(
        "F118", f"the result cannot be written: {reason}", help="send it to a file, a pipe, a terminal"
    )


def show_json(value: dict[str, Any]) -> None:
    show(json_text(json.dumps(value, indent=2, ensure_ascii=not _holds_all(sys.stdout), allow_nan=False)))


def _holds_all(stream: TextIO | None) -> bool:
    """Whether the stream's encoding has all characters. Streams in memory name none."""
    name = getattr(stream, "encoding", None) or "utf-8"
    return lookup(name).name.startswith("utf")


def ok(verb: str, **values: Any) -> dict[str, Any]:
    """The object that `--json` prints for a command that succeeded."""
    return {"schema": "mdh.result/1", "ok": True, "verb": verb, **values}


@contextmanager
def remarks(shown: bool) -> Iterator[None]:
    """Whether `log` prints anything inside: -q leaves remarks and progress out."""
    before = _remarks.set(shown)
    try:
        yield
    finally:
        _remarks.reset(before)


def log(text: str) -> None:
    """Prints a remark about the work on stderr, except under -q."""
    if _remarks.get():
        note(f"mdh: {text}\n")


def remarks_shown() -> bool:
    return _remarks.get()


def ending(number: signal.Signals, done: str) -> None:
    """Prints a remark on the first signal; what is `done` is still reported after it."""
    word = "interrupted" if number is signal.SIGINT else "terminated"
    log(f"{word}: ending with what was {done}; once more ends at once")


def note(text: str) -> None:
    """Prints text on stderr with its newlines."""
    _note(printable(text))


def _note(text: str) -> None:
    """Prints on stderr what is printable, or coloured."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(fitting(text, sys.stderr))
        sys.stderr.flush()
    except BrokenPipeError:
        raise typer.Exit(BROKEN_PIPE) from None


def report(diagnostics: Iterable[Diagnostic]) -> None:
    """Prints diagnostics on stderr, with blank lines between them. If there are many, the first ones."""
    shown, left = capped(tuple(diagnostics), MOST_SHOWN)
    style = {"paint": paint} if coloured(sys.stderr) else {}
    _note("\n".join(render_text(d, columns=columns(sys.stderr), **style) for d in shown))
    if left:
        more = "errors are" if left > 1 else "error is"
        log(f"{left:,} more {more} not shown; --json lists up to {MOST_IN_JSON:,}")
