"""Records as somebody might write them who wishes mdh ill: forged lines with right checksums, and damage."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from mdh.cli.db_text import list_text, show_text, trial_text
from mdh.diagnostics import Failed
from mdh.results.trial import Trial
from mdh.tuner.records.export import FORMATS, export_text
from mdh.tuner.records.file import Record
from mdh.tuner.records.line import checksum
from mdh.tuner.records.listing import listed
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import Contents, read_contents
from tests.hostile.pieces import damaged
from tests.hostile.verdict import Verdict, judged
from tests.tune.records.samples import header, write

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1 << 63, 1 << 64, 10**400, 0.0, -0.0, -1e-3, 1e-300, 1e300, 1.7e308,
    5e-324, "", "x", "-", "\0", "\r", "\n", "a,b\"c\r\n", "=1+1", "\u2028", "\x1b[2J", "\U0001f600",
    "x" * 5000, [], {}, [[]], [None], [True], [0.0], [-1.0], [1e-300], [1.7e308, 1.7e308], [1e-3, "x"],
    {"a": {}}, {"": 1}, {"a": True}, {"a": 1.5}, "quick", "wrong", "compile", "mdh.record/1",
    "mdh.record/1.5", "mdh.record/2", "mdh.record/999999999999", "1: (",
    "1: (de-)comp( ?a, 8, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )", "../../x", "0" * 64, 1e22, 253402300800.0,
    12 * [1e-3],
)  # fmt: skip
_RAW = (
    b"NaN", b"-Infinity", b"1e999", b"-1e999", b"9" * 5000, b'"\\ud800"', b"[" * 2000, b'{"a":' * 2000,
    b"nul", b"[" * 15 + b"]" * 15, b"0x1", b"1_0", b"{\"a\":1,\"a\":2}", b"\xed\xa0\x80", b"1E5", b"-0",
    b"\"\\u0000\"",
)  # fmt: skip
_NOISE = (
    *_RAW,
    b"{",
    b"}",
    b":",
    b",",
    b"\n{}\n",
    b"\n\n",
    b"[]\n",
    b'"sum":',
    b'"trial":',
    b'"warm":[',
    b"\0" * 100,
)


@cache
def record_files() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder, _quick_disk():
        a, b, both = (Path(folder) / name for name in ("a.jsonl", "b.jsonl", "both.jsonl"))
        write(a, 5)
        write(b, 3, N=32)
        merge(str(both), [str(a), str(b)])
        return a.read_bytes(), both.read_bytes()


def mutate_record(data: bytes, chance: Random) -> bytes:
    """Fields with other values, under a checksum that fits; or damage."""
    if chance.random() < 0.3:
        return damaged(data, chance, _NOISE)
    lines = data.splitlines()
    for _ in range(chance.choice((1, 1, 2, 4))):
        n = chance.randrange(len(lines))
        lines[n] = _forged(lines[n], chance)
    return b"\n".join(lines) + b"\n"


def _forged(line: bytes, chance: Random) -> bytes:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return line
    fields.pop("sum", None)
    name = chance.choice((*fields, "extra", "warm", "trial", "schedule", "schema", "record"))
    if chance.random() < 0.15:
        # no checksum can fit what is no JSON
        raw = json.dumps({**fields, name: "HERE"}).encode()
        return raw.replace(b'"HERE"', chance.choice(_RAW))
    if chance.random() < 0.1:
        fields.pop(name, None)
    elif isinstance(fields.get(name), dict) and chance.random() < 0.5:
        fields[name][chance.choice((*fields[name], "z"))] = chance.choice(_VALUES)
    else:
        fields[name] = chance.choice(_VALUES)
    try:
        return json.dumps({**fields, "sum": checksum(fields)}).encode()
    except ValueError:
        # an earlier change made it a number that JSON has not
        return line


def judge_record(data: bytes) -> Verdict:
    """Times that are loaded can be; every verb of `mdh db` has a result; merging keeps every trial; taking
    it up keeps every line."""

    def work() -> str | None:
        with tempfile.TemporaryDirectory() as folder, _quick_disk():
            path = Path(folder) / "r.jsonl"
            path.write_bytes(data)
            wrong = _taken_up(Path(folder), data)
            contents = read_contents(str(path))
            return wrong or _wrong(contents) or _merged(contents, Path(folder) / "out.jsonl")

    return judged(work)


def _wrong(contents: Contents) -> str | None:
    list_text(listed(contents))
    for section in contents.sections:
        show_text(contents.path, section, 10)
        for trial in section.trials:
            trial_text(section.header, trial)
            if not _possible(trial):
                return f"it was believed: {trial}"
        for form in FORMATS:
            rows = _rows(form, export_text(form, [section]))
            if rows != len(section.trials) + (form == "jsonl"):
                return f"{form} has {rows} rows, the record {len(section.trials)} trials"
    return None


def _possible(trial: Trial) -> bool:
    o = trial.outcome
    runs = all(type(s) is float and 1e-12 <= s <= 1e11 for s in (*o.warm, *o.cold))
    rest = (o.build_seconds, o.check_seconds, o.measure_seconds, trial.started, trial.elapsed, *o.clocks)
    return runs and trial.number >= 0 and all(type(s) is float and 0.0 <= s <= 1e11 for s in rest)


def _rows(form: str, text: str) -> int:
    """As another tool reads the export."""
    if form == "csv":
        # as from a file
        return len(list(csv.reader(io.StringIO(text, newline="")))) - 1
    if form == "jsonl":
        return len([json.loads(line, parse_constant=_no_number) for line in text.splitlines()])
    return len(json.loads(text, parse_constant=_no_number)["results"])


def _no_number(word: str) -> float:
    raise ValueError(f"{word} in an export")


def _merged(contents: Contents, out: Path) -> str | None:
    merge(str(out), [contents.path])
    before, after = ({t for s in c.sections for t in s.trials} for c in (contents, read_contents(str(out))))
    return None if before == after else f"merging left {len(after)} of {len(before)} trials"


def _taken_up(folder: Path, data: bytes) -> str | None:
    path = folder / "taken.jsonl"
    path.write_bytes(data)
    try:
        with Record.open(str(path), header()) as record:
            loaded = list(record.trials)
        with Record.open(str(path), header()) as record:
            again = list(record.trials)
    except Failed:
        return None
    aside = Path(f"{path}.torn")
    kept = path.read_bytes() + (aside.read_bytes() if aside.exists() else b"")
    lost = [line for line in data.split(b"\n") if line.strip() and line not in kept]
    return "taking it up lost a line" if lost or loaded != again else None


@contextmanager
def _quick_disk() -> Iterator[None]:
    """What is on the disk after a loss of power is not asked here, and waiting for it takes hours."""
    kept, os.fsync = os.fsync, lambda handle: None
    try:
        yield
    finally:
        os.fsync = kept
