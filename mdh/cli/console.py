"""Results go to stdout, everything else to stderr; a closed pipe ends the program quietly."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import typer

from mdh.cli.exit_codes import BROKEN_PIPE
from mdh.diagnostics import Diagnostic, render_text


def show(text: str) -> None:
    """A result: text with its final newline."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has gone (`mdh … | head`): nothing to say, and nothing for the interpreter to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(BROKEN_PIPE) from None


def show_json(value: dict[str, Any]) -> None:
    show(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def ok(verb: str, **values: Any) -> dict[str, Any]:
    """The object that `--json` prints for a verb that succeeded."""
    return {"schema": "mdh.result/1", "ok": True, "verb": verb, **values}


def log(text: str) -> None:
    """A remark about what is being done, on stderr."""
    note(f"mdh: {text}\n")


def note(text: str) -> None:
    """Text on stderr as it is."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        raise typer.Exit(BROKEN_PIPE) from None


def report(diagnostics: Iterable[Diagnostic]) -> None:
    """Diagnostics as text on stderr, one blank line between two."""
    note("\n".join(render_text(d) for d in diagnostics))
