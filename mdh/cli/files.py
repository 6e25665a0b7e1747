"""Reads and writes the files that the user names. Each error has a code and a place."""

import errno
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np

from mdh.cli.command_line import CommandLine, at_span, at_word
from mdh.cli.console import log
from mdh.diagnostics import Failed
from mdh.folders import followed, replace_whole
from mdh.printable import encodable
from mdh.shipped import schedule_called
from mdh.source import Source
from mdh.textfile import (
    C_LIMIT,
    SCHEDULE_LIMIT,
    decode,
    read_program_text,
    read_schedule_text,
    reason,
)


def read_program(line: CommandLine, path: str) -> Source:
    """The text of a program; `-` is C on standard input. Raises Failed F101 to F105, F120 at the word."""
    if path == "-":
        return read_stdin(line, limit=C_LIMIT)
    return at_word(line, path, lambda: read_program_text(path))


def read_schedule(line: CommandLine, path: str) -> Source:
    """The text of a schedule; `-` is standard input. A shipped schedule that moved is read from its new
    place, with a remark. Raises Failed F101 to F105 at the word."""
    if path == "-":
        return read_stdin(line, limit=SCHEDULE_LIMIT)
    new = moved(path)
    if new != path:
        log(f"`{path}` is now `{new}`; its old path goes with release 0.2")
    return at_span(line.span_of(path, last=True), lambda: read_schedule_text(new))


def moved(path: str) -> str:
    """`schedules/dot/h200/wide.mdh` for `schedules/dot.h200.wide.mdh`, a path of release 0.1, if only the new
    file exists. To be removed in release 0.2."""
    program, machine, variant = [*Path(path).stem.split(".", 2), "", ""][:3]
    if program == "ccsdt":
        program, variant = "ccsdt_1", f"all.{variant}".rstrip(".")
    place = f"{program}/{machine.replace('cpu', 'generic-cpu')}/{variant or 'base'}"
    new = Path(path).parent / f"{place if machine else f'published/{program}'}.mdh"
    old = Path(path).parent.name == "schedules" and not os.path.exists(path)
    return str(new) if old and os.path.isfile(new) else path


def read_stdin(line: CommandLine, *, limit: int) -> Source:
    """Standard input as a Source named `<stdin>`; a command may read it several times. Raises Failed F103,
    F104, F105, and F107 if two words ask for it."""
    if line.words.count("-") > 1:
        headline = "standard input holds one text, and `-` stands for two"
        raise line.fail("F107", headline, "-", help="give a file for one of them", last=True)
    if sys.stdin is None:
        raise line.fail("F103", "standard input is closed", "-", help="give a file, or send the text here")
    try:
        data = line.stdin
    except OSError as error:
        raise line.fail("F103", f"standard input cannot be read: {reason(error)}", "-") from None
    if len(data) > limit:
        hint = "give the program or the schedule alone"
        raise line.fail("F105", f"standard input has more than {limit:,} bytes", "-", help=hint)
    return at_word(line, "-", lambda: decode("<stdin>", data))


def demand_own(line: CommandLine, path: str) -> None:
    """Raises Failed F111 for standard input, and for the name of a shipped schedule that no file has: they
    are not written back."""
    if path == "-":
        raise line.fail("F111", "standard input cannot be written back", "-", help="leave --in-place out")
    if schedule_called(path) is not None and not os.path.isfile(path):
        headline = f"`{path}` cannot be written: it is a part of mdh"
        raise line.fail(
            "F111", headline, path, help=f"`mdh new {path.partition('/')[0]}` makes a copy of yours"
        )


def write_text(line: CommandLine, path: str | Path, text: str) -> None:
    """Replaces `path` atomically, so that an interrupted run leaves the old file. Something else than a
    regular file (`/dev/stdout`, a pipe) is written to. File names in the text that are not UTF-8 are escaped.
    Raises Failed F111."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.exists(target) and not os.path.isfile(target):
            target.write_text(encodable(text), encoding="utf-8", newline="\n")
        else:
            # a link stays a link: the file that it leads to is replaced
            replace_whole(followed(target), encodable(text).encode("utf-8"))
    except OSError as error:
        raise cannot_write(line, path, error) from None


def write_array(line: CommandLine, path: Path, array: np.ndarray) -> None:
    """Replaces the .npy file `path` atomically. Raises Failed F111."""
    data = BytesIO()
    np.save(data, array, allow_pickle=False)
    try:
        replace_whole(followed(path), data.getvalue())
    except OSError as error:
        raise cannot_write(line, path, error) from None


def keep_others(line: CommandLine, output: str, files: Mapping[str, str]) -> None:
    """Raises Failed F111 if the folder has files of these names that no earlier `mdh compile` wrote, by its
    manifest."""
    folder = Path(output)
    mine = _listed(folder / "manifest.json")
    there = (folder / n for n in sorted(files) if n not in mine and os.path.exists(folder / n))
    texts = {n: encodable(text).encode() for n, text in files.items()}
    other = next((p for p in there if not os.path.isfile(p) or p.read_bytes() != texts[p.name]), None)
    if other is not None:
        headline = f"`{other}` cannot be written: it is there, and mdh did not write it"
        help_ = "give a new folder, or one that holds what mdh wrote before"
        raise line.fail("F111", headline, output, help=help_, last=True)


def _listed(manifest: Path) -> frozenset[str]:
    """The files that a manifest of mdh lists; none if it is no such manifest."""
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return frozenset()
    known = isinstance(data, dict) and "mdh" in data and isinstance(data.get("files"), list)
    return frozenset(n for n in data["files"] if isinstance(n, str)) if known else frozenset()


def keep_inputs(
    line: CommandLine, output: str, inputs: Sequence[str], texts: Mapping[Path, str | None]
) -> None:
    """Raises Failed F111 at `output` if a file that the call reads would be replaced by another text (None:
    not known yet)."""
    read = [Path(p) for p in inputs if os.path.isfile(p)]
    for target, text in texts.items():
        same = next((p for p in read if os.path.exists(target) and target.samefile(p)), None)
        if same is not None and (text is None or same.read_bytes() != encodable(text).encode()):
            headline = f"`{target}` cannot be written: it is what this call reads"
            raise line.fail("F111", headline, output, help="give another place", last=True)


def demand_writable(line: CommandLine, path: str | Path) -> None:
    """Raises Failed F111 if a place cannot take a text, before the text is computed. `write_text` handles
    missing folders."""
    try:
        target = followed(Path(path)).absolute()
        if os.path.exists(target) and not os.path.isdir(target) and not os.path.isfile(target):
            return
        # no file can have this name, and errors below do not tell: the folder exists
        with suppress(FileNotFoundError):
            os.stat(target)
        there = next(p for p in target.parents if os.path.exists(p))
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise cannot_write(line, path, error) from None


def cannot_write(line: CommandLine, path: str | Path, error: OSError) -> Failed:
    """F111 at the word that names `path` or a folder above it."""
    above = [str(p) for p in (Path(path), *Path(path).parents)]
    word = next((w for name in above for w in line.words if w.rstrip("/") == name), str(path))
    file = next((p for p in Path(path).parents if os.path.isfile(p)), None)
    hint = f"`{file}` is a file; give a folder, or a new name" if file else "give a place that may be written"
    return line.fail("F111", f"`{path}` cannot be written: {reason(error)}", word, help=hint, last=True)
