"""Results go to stdout, everything else to stderr; a closed pipe ends the program quietly.

All text passes `mdh.printable` here, also where a pipe takes it: what steers a terminal is spelled out, and
so is what the stream's encoding does not have. JSON uses its own escapes. Files are written as they are.
"""

import json
import os
import signal
import sys
from codecs import lookup
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TextIO

import typer

from mdh.cli.exit_codes import BROKEN_PIPE
from mdh.diagnostics import Diagnostic, Failed, fail, render_text
from mdh.printable import fitting, json_text, printable

MOST_SHOWN = 50
"""Diagnostics as text: two screens. A rule tells of a few; only damaged or generated schedules get here."""
MOST_IN_JSON = 1_000
"""Diagnostics as data, which programs read."""
MOST_CHARACTERS = 2_000
"""Of one sentence: a name in it may be as long as the file."""


def capped(diagnostics: Sequence[Diagnostic], most: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The first `most` diagnostics, sentences cut where they are too long, and how many there are beyond."""
    shown = tuple(_short(d) for d in diagnostics[:most])
    return shown, len(diagnostics) - len(shown)


def _short(d: Diagnostic) -> Diagnostic:
    labels = tuple(replace(label, message=_cut(label.message)) for label in d.labels)
    notes = tuple(_cut(n) for n in d.notes)
    return replace(d, headline=_cut(d.headline), labels=labels, notes=notes, help=_cut(d.help))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def show(text: str) -> None:
    """A result: text with its final newline. Raises Failed F118 where it cannot be written."""
    if sys.stdout is None:
        raise _unwritten("standard output is closed")
    try:
        sys.stdout.write(fitting(printable(text if text.endswith("\n") else text + "\n"), sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has gone (`mdh … | head`): nothing to say
        _discard_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        raise lost_output(error) from error


def lost_output(error: OSError) -> Failed:
    """F118 for an error of writing to stdout, to which nothing more is written."""
    _discard_output()
    return _unwritten(error.strerror or str(error))


def _discard_output() -> None:
    """Leaves nothing for the interpreter to flush at its end, which would fail once more."""
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
    """The object that `--json` prints for a verb that succeeded."""
    return {"schema": "mdh.result/1", "ok": True, "verb": verb, **values}


def log(text: str) -> None:
    """A remark about what is being done, on stderr."""
    note(f"mdh: {text}\n")


def ending(number: signal.Signals, done: str) -> None:
    """The remark on the first signal, after which what is `done` is still told."""
    word = "interrupted" if number is signal.SIGINT else "terminated"
    log(f"{word}: ending with what was {done}; once more ends at once")


def note(text: str) -> None:
    """Text on stderr, its newlines as they are."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(fitting(printable(text), sys.stderr))
        sys.stderr.flush()
    except BrokenPipeError:
        raise typer.Exit(BROKEN_PIPE) from None


def report(diagnostics: Iterable[Diagnostic]) -> None:
    """Diagnostics as text on stderr, one blank line between two; the first ones where there are many."""
    shown, left = capped(tuple(diagnostics), MOST_SHOWN)
    note("\n".join(render_text(d) for d in shown))
    if left:
        more = "errors are" if left > 1 else "error is"
        log(f"{left:,} more {more} not shown; --json lists up to {MOST_IN_JSON:,}")
