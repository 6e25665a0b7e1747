"""A growing record: each trial is a line, written in one piece, and on the disk before the next trial is
reported."""

import os
from contextlib import suppress
from pathlib import Path

from mdh.diagnostics import fail
from mdh.folders import sync_folder
from mdh.results.trial import Trial
from mdh.tuner.records.disk import open_locked, unwritten
from mdh.tuner.records.form import SCHEMA, header_fields, trial_fields
from mdh.tuner.records.header import Header
from mdh.tuner.records.line import LINE_LIMIT, seal
from mdh.tuner.records.read import Contents, contents_of
from mdh.tuner.records.scan import Scan, check_file, scan

BEGINNING = f'{{"schema":"{SCHEMA}"'.encode("ascii")
"""The beginning of a header. Any other incomplete text at the end of a file was written by somebody else."""

ROOM = 1 << 14
"""Bytes that must be free when a record is opened: some ten trials."""


class Record:
    """An open record. It is locked against other writers until it is closed or its process ends.

    header: of the file. trials: those that were there when it was opened, and those appended since. remarks:
    sentences about damage that was found.
    """

    def __init__(
        self, path: str, handle: int, header: Header, trials: tuple[Trial, ...], remarks: tuple[str, ...]
    ) -> None:
        self.path = path
        self.header = header
        self.trials = list(trials)
        self.remarks = remarks
        self._handle = handle

    @staticmethod
    def open(path: str, header: Header) -> "Record":
        """Begins a record, or continues one with the header's key. The rest of an interrupted write is moved
        to `PATH.torn`.

        Raises Failed: F102 not a file, F105 too large, F111 cannot be written, F170 not a record, F171 of a
        newer mdh, F172 of another tuning, F173 in use.
        """
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(path) and os.path.exists(path):
                check_file(path, os.stat(path))
        except (OSError, ValueError) as error:
            raise unwritten(path, error) from None
        handle = open_locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            return _taken_up(path, handle, header)
        except OSError as error:
            os.close(handle)
            raise unwritten(path, error) from None
        except BaseException:
            os.close(handle)
            raise

    def append(self, trial: Trial) -> None:
        """Appends a trial, which is on the disk when this returns. Raises Failed F111; the file is then
        unchanged, and a later append may succeed."""
        _write(self.path, self._handle, seal(trial_fields(trial, self.header.mark)))
        self.trials.append(trial)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _taken_up(path: str, handle: int, header: Header) -> Record:
    with os.fdopen(os.dup(handle), "rb") as file:
        found = scan(path, file)
    held = _contents(path, found, header)
    if held is not None:
        _same(held, header)
    _mend(path, handle, found)
    _demand_room(path, handle)
    if held is None or all(s.header.mark != header.mark for s in held.sections):
        _write(path, handle, seal(header_fields(header)))
        sync_folder(Path(path).parent)
    if held is None:
        return Record(path, handle, header, (), ())
    sections = [s for s in held.sections if s.header.mark == header.mark]
    trials = tuple(t for s in sections for t in s.trials)
    trials += tuple(t for mark, lost in held.orphans if mark == header.mark for t in lost)
    return Record(path, handle, sections[0].header if sections else header, trials, held.remarks)


def _demand_room(path: str, handle: int) -> None:
    """Refuses a disk without room for a few trials, before hours are spent. If the process is killed here, a
    blank line remains, which readers skip. Raises Failed F111."""
    before = os.fstat(handle).st_size
    _write(path, handle, b" " * ROOM + b"\n")
    os.ftruncate(handle, before)


def _contents(path: str, found: Scan, header: Header) -> Contents | None:
    """The contents of the file; None if it is empty, or has only the beginning of a header."""
    if found.whole == 0 and _is_beginning(path, found):
        return None
    return contents_of(path, found)


def _is_beginning(path: str, found: Scan) -> bool:
    if found.torn is None:
        return True
    with open(path, "rb") as file:
        start = file.read(len(BEGINNING))
    return start == BEGINNING[: len(start)]


def _same(held: Contents, header: Header) -> None:
    """Raises Failed F172 if none of the file's records has the header's key."""
    marks = {s.header.mark for s in held.sections} | {mark for mark, _ in held.orphans}
    if header.mark in marks:
        return
    hint = "give another record for this tuning; its results can be merged later with `mdh db merge`"
    if not held.sections:
        raise fail("F172", f"`{held.path}` is a record of another tuning, and its header is lost", help=hint)
    there = held.sections[0].header
    old, new = dict(there.parts), dict(header.parts)
    differ = [name for name in dict.fromkeys((*new, *old)) if old.get(name) != new.get(name)]
    said = "; ".join(f"{name}: {_said(old, name)} there, {_said(new, name)} here" for name in differ[:4])
    raise fail("F172", f"`{held.path}` is a record of another tuning: {said}", help=hint)


def _said(parts: dict[str, str], name: str) -> str:
    """A part for people: the first eight digits of a digest are enough."""
    words = parts.get(name, "").split(" ")
    return " ".join(w[:8] if len(w) == 32 and w.isalnum() else w for w in words) or "none"


def _mend(path: str, handle: int, found: Scan) -> None:
    """Moves an incomplete last line to another file; adds a newline if only that is missing."""
    if found.unended:
        _write(path, handle, b"")
    if found.torn is None:
        return
    name = f"{path}.torn"
    # the tuner must not wait for a pipe of that name
    aside = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    try:
        at = found.torn.offset
        while piece := os.pread(handle, LINE_LIMIT, at):
            _write(name, aside, piece, fresh=at == found.torn.offset)
            at += len(piece)
    finally:
        os.close(aside)
    os.ftruncate(handle, found.whole)
    os.fsync(handle)


def _write(path: str, handle: int, data: bytes, *, fresh: bool = True) -> None:
    """Appends all of `data` and syncs it to the disk, or nothing if that fails. fresh: it begins a new line,
    whatever an interrupted write has left before it. Raises Failed F111."""
    before = os.fstat(handle).st_size
    if fresh and before and os.pread(handle, 1, before - 1) != b"\n":
        data = b"\n" + data
    try:
        # in one piece, unless the disk or a limit ends inside it
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(handle, before)
        raise unwritten(path, error) from None
