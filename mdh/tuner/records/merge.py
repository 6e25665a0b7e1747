"""Merges records: keeps every trial and every field of a newer mdh, and each trial once."""

import os
from collections.abc import Sequence
from pathlib import Path

from mdh.diagnostics import fail
from mdh.passwords import masked
from mdh.tuner.records.disk import open_locked, replace_file
from mdh.tuner.records.form import without_passwords
from mdh.tuner.records.line import Fields, checksum, seal
from mdh.tuner.records.read import contents_of
from mdh.tuner.records.scan import Scan, scan_file


def merge(out: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Writes to `out` every line of `paths`, and of `out` if it exists, once each and without passwords.

    Headers come first, each with its trials by starting time. Inputs are not changed. Damaged lines of `out`
    go to `OUT.damaged`. Returns remarks. Raises Failed as `read_contents` and `Record.open` do; nothing is
    written then.
    """
    if not os.path.lexists(out):
        scans = [_read(path) for path in paths]
        replace_file(out, _joined([scan for scan, _ in scans]))
        return _told(scans)
    handle = open_locked(out, os.O_RDWR | os.O_APPEND)
    try:
        scans = [_read(path) for path in dict.fromkeys((out, *paths))]
        _keep_damaged(out, handle, scans[0][0])
        replace_file(out, _joined([scan for scan, _ in scans]))
        return _told(scans)
    finally:
        os.close(handle)


def _read(path: str) -> tuple[Scan, tuple[str, ...]]:
    found = scan_file(path)
    return found, contents_of(path, found).remarks


def _told(scans: list[tuple[Scan, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(remark for _, remarks in scans for remark in remarks)


def _joined(scans: Sequence[Scan]) -> bytes:
    """Lines with checksums: each header with the lines that name it; then lines of neither kind."""
    lines: dict[str, Fields] = {}
    for scan in scans:
        for line in scan.good:
            fields = without_passwords(line.fields)
            lines.setdefault(checksum(fields), fields)
    # by the first digits of the key, as lines have it; of repeated headers the first counts
    place = {mark: n for n, mark in enumerate(dict.fromkeys(_mark(f) for f in lines.values()))}
    ordered = sorted(lines.values(), key=lambda f: (place[_mark(f)], "schema" not in f, _started(f)))
    return b"".join(seal(fields) for fields in ordered)


def _mark(fields: Fields) -> str:
    named = fields.get("key") if "schema" in fields else fields.get("record")
    return named[:16] if isinstance(named, str) else ""


def _started(fields: Fields) -> tuple[float, int]:
    when = fields.get("created" if "schema" in fields else "started")
    number = fields.get("trial")
    return (when if isinstance(when, int | float) else 0.0, number if isinstance(number, int) else 0)


def _keep_damaged(out: str, handle: int, found: Scan) -> None:
    """Keeps the bytes of lines that cannot be read, in another file."""
    damaged = (*found.bad, *((found.torn,) if found.torn else ()))
    pieces = [_masked(os.pread(handle, b.size, b.offset)) for b in damaged]
    if not pieces:
        return
    aside = Path(f"{out}.damaged")
    if os.path.exists(aside) and not os.path.isfile(aside):
        raise fail("F111", f"`{aside}` cannot be written: it is not a file")
    before = aside.read_bytes() if os.path.exists(aside) else b""
    replace_file(aside, before + b"".join(p if p.endswith(b"\n") else p + b"\n" for p in pieces))


def _masked(line: bytes) -> bytes:
    """The line without passwords. It is decoded as Latin-1, which has a character for every byte."""
    return masked(line.decode("latin-1")).encode("latin-1")
