"""`mdh check --watch`: the same command again whenever a file that it reads changes."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import typer

from mdh.cli.command_line import CommandLine
from mdh.cli.console import clear_screen, log
from mdh.cli.exit_codes import INTERRUPTED
from mdh.cli.main import run
from mdh.cli.options import CONSTANTS, Request
from mdh.diagnostics import Failed
from mdh.textfile import C_LIMIT, read_text

WATCH = "--watch"
PAUSE = 0.25
"""Seconds between two looks at the files."""
SETTLED = 0.05
"""Seconds in which files must stay as they are. Editors remove a file for a moment when they save it."""
MOST_INCLUDED = 200
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def watch(request: Request) -> NoReturn:
    """Runs the command of `request` without --watch again and again, until a signal ends it."""
    words = [w for w in request.line.words if w != WATCH]
    seen: object = None
    while True:
        now = _settled(request)
        if now != seen:
            seen = now
            clear_screen()
            start = time.perf_counter()
            code = run(words)
            if code == INTERRUPTED:
                raise typer.Exit(code)
            took = time.perf_counter() - start
            log(f"{time.strftime('%H:%M:%S')}: checked in {took:.2f} s; waits for changes, Ctrl-C ends")
        time.sleep(PAUSE)


def _settled(request: Request) -> dict[str, object]:
    """The state of the files, once it stays as it is."""
    now = states(request)
    while True:
        time.sleep(SETTLED)
        again = states(request)
        if again == now:
            return now
        now = again


def states(request: Request) -> dict[str, object]:
    """Of each file that the command reads, when it was written and how long it is; None where it is not."""
    out: dict[str, object] = {}
    for path in (*request.files, *_arrays(request.line), *_included(request.file)):
        out[path] = None
        with suppress(OSError, ValueError):
            status = os.stat(path)
            out[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return out


def _arrays(line: CommandLine) -> Iterator[str]:
    """The files of `--const NAME=FILE.npy`."""
    words: Sequence[str] = line.words
    for n, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in CONSTANTS:
            given = value if equals else words[n + 1] if n + 1 < len(words) else ""
            yield given.partition("=")[2]


def _included(path: str) -> Iterator[str]:
    """The files that a C text includes by `#include "…"`, and those that these include."""
    left, known = [Path(path)], set[Path]()
    while left and len(known) < MOST_INCLUDED:
        file = left.pop()
        # a pipe or a device is no text, and reading it could take forever
        with suppress(Failed):
            for name in _INCLUDE.findall(read_text(str(file), limit=C_LIMIT).text):
                found = file.parent / name
                if found not in known:
                    known.add(found)
                    left.append(found)
                    yield str(found)
