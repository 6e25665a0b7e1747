"""The lines of a record file, good and bad, before anybody asks what they say."""

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
"""Bytes: hundreds of thousands of trials of the usual size; a tuner measures a few thousand a day."""
WASTE_LIMIT = 10_000
"""Lines that are empty or damaged, beyond which a file that holds fewer whole ones is none of ours: they
would be read for minutes."""


@dataclass(frozen=True, slots=True)
class Good:
    number: int
    fields: Fields


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that is not what was written; offset and size find its bytes again."""

    number: int
    reason: str
    offset: int
    size: int
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """whole: bytes up to the end of the last whole line; torn: what is behind it, a write that was cut off;
    unended: the last line is whole but for its newline."""

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
    """From the start of the file to its end. Raises Failed F170 where hardly a line is whole."""
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
    """(the line with its newline, its bytes in the file); of a line beyond the limit only what shows that
    it is one is kept, whatever its length."""
    while line := file.readline(LINE_LIMIT + 2):
        size, end = len(line), line
        while len(end) > LINE_LIMIT and not end.endswith(b"\n"):
            end = file.readline(LINE_LIMIT + 2)
            size += len(end)
        if size > len(line):
            line += end[-1:]
        yield line, size
