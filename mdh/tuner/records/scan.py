"""Finds the lines of a record file, whole and damaged, before they are interpreted."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from mdh.diagnostics import fail
from mdh.textfile import reason
from mdh.tuner.records.line import LINE_LIMIT, BadLineError, Fields, unseal

FILE_LIMIT = 1 << 30
"""Bytes: hundreds of thousands of trials of the usual size. A tuner measures a few thousand a day."""
WASTE_LIMIT = 10_000
"""Empty or damaged lines beyond which a file with fewer whole ones is no record. Reading it would take
minutes."""


@dataclass(frozen=True, slots=True)
class Good:
    number: int
    fields: Fields


@dataclass(frozen=True, slots=True)
class Bad:
    """A damaged line. Its bytes are found by offset and size."""

    number: int
    reason: str
    offset: int
    size: int
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """whole: bytes up to the end of the last whole line. torn: the bytes after it, an interrupted write.
    unended: the last line is whole except for its newline."""

    good: tuple[Good, ...]
    bad: tuple[Bad, ...]
    whole: int
    torn: Bad | None
    unended: bool


def scan_file(path: str) -> Scan:
    """Raises Failed: F101 no such file, F102 not a file, F103 not readable, F105 too large."""
    try:
        check_file(path, os.stat(path))
        with open(path, "rb") as file:
            return scan(path, file)
    except FileNotFoundError:
        folder = Path(path).parent
        hint = (
            "`mdh db list` shows the records here"
            if os.path.isdir(folder)
            else f"there is no folder `{folder}`"
        )
        raise fail("F101", f"no file `{path}`", help=hint) from None
    except (OSError, ValueError) as error:
        raise fail("F103", f"`{path}` cannot be read: {reason(error)}") from None


def check_file(path: str, status: os.stat_result) -> None:
    """Raises Failed: F102 not a file, F105 too large."""
    if stat.S_ISDIR(status.st_mode):
        raise fail("F102", f"`{path}` is a folder, not a file", help="give a record: NAME.jsonl")
    if not stat.S_ISREG(status.st_mode):
        raise fail("F102", f"`{path}` is not a regular file", help="give a record: NAME.jsonl")
    if status.st_size > FILE_LIMIT:
        raise fail("F105", f"`{path}` has {status.st_size:,} bytes; the limit is {FILE_LIMIT:,}")


def scan(path: str, file: BufferedReader) -> Scan:
    """The lines from the start of the file to its end. Raises Failed F170 if hardly any line is whole."""
    file.seek(0)
    good: list[Good] = []
    bad: list[Bad] = []
    torn: Bad | None = None
    unended, offset = False, 0
    for number, (line, size) in enumerate(_lines(file), 1):
        if number > WASTE_LIMIT + 2 * len(good):
            raise fail(
                "F170", f"`{path}` is not a record of mdh: of its first {number - 1:,} lines"
                f" {len(good):,} are whole", help="a record has a line a trial, each with its checksum",
            )  # fmt: skip
        ended = line.endswith(b"\n")
        if not line.strip():
            offset += size
            continue
        try:
            good.append(Good(number, unseal(line.removesuffix(b"\n"))))
            unended = not ended
        except BadLineError as error:
            found = Bad(number, str(error), offset, size, error.schema)
            if not ended:
                torn = found
                break
            bad.append(found)
        offset += size
    return Scan(tuple(good), tuple(bad), offset, torn, unended)


def _lines(file: BufferedReader) -> Iterator[tuple[bytes, int]]:
    """Pairs of a line with its newline and its size in the file in bytes. Of a line beyond the limit, only
    enough is kept to see that it is too long."""
    while line := file.readline(LINE_LIMIT + 2):
        size, end = len(line), line
        while len(end) > LINE_LIMIT and not end.endswith(b"\n"):
            end = file.readline(LINE_LIMIT + 2)
            size += len(end)
        if size > len(line):
            line += end[-1:]
        yield line, size
