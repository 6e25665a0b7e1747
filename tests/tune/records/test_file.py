"""A record grows line by line, is taken up where it ended, and no fault of disk or process harms it."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.tuner.records.disk import replace_file
from mdh.tuner.records.file import ROOM, Record
from mdh.tuner.records.line import seal
from mdh.tuner.records.read import read_record
from mdh.tuner.records.scan import FILE_LIMIT
from tests.support.source_tree import ROOT
from tests.tune.records.samples import header, trial, write


def _code(failed: pytest.ExceptionInfo[Failed]) -> str:
    return failed.value.diagnostics[0].code


def test_what_is_appended_is_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.jsonl"
    trials = write(path, 9)
    found, loaded, remarks = read_record(str(path))
    assert (found, loaded, remarks) == (header(), trials, ())


def test_resuming_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = write(path, 5)
    with Record.open(str(path), replace(header(), seed=8, created=1.0)) as record:
        assert tuple(record.trials) == first
        assert record.header == header()
        record.append(trial(5, 1.0))
    assert read_record(str(path))[1] == (*first, trial(5, 1.0))


def test_another_tuning_is_refused_and_says_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, 2)
    before = path.read_bytes()
    with pytest.raises(Failed) as failed:
        Record.open(str(path), header(N=32))
    assert _code(failed) == "F172"
    assert "arrays: A f32 64x64; B f32 64x64; C f32 64x64 there, A f32 32x32" in str(failed.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", [b"int main;\n", b"int main;", b'{"schema":"mdh.machine/1"}\n', b"\0" * 4000]
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(text)
    with pytest.raises(Failed) as failed:
        Record.open(str(path), header())
    assert _code(failed) == "F170"
    assert path.read_bytes() == text
    assert os.listdir(tmp_path) == ["r.jsonl"]


@pytest.mark.parametrize("sealed", [True, False])
def test_a_newer_schema_is_refused(tmp_path: Path, sealed: bool) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(seal({"schema": "mdh.record/2"}) if sealed else b'{"schema":"mdh.record/2","crc":1}\n')
    before = path.read_bytes()
    for use in (lambda: Record.open(str(path), header()), lambda: read_record(str(path))):
        with pytest.raises(Failed) as failed:
            use()
        assert _code(failed) == "F171"
    assert path.read_bytes() == before


def test_a_schema_with_additions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, 1)
    lines = path.read_bytes().splitlines()
    fields = {**json.loads(lines[0]), "schema": "mdh.record/1.3", "colour": ["red"]}
    del fields["sum"]
    path.write_bytes(seal(fields) + lines[1] + b"\n")
    found, trials, _ = read_record(str(path))
    assert found.extra == (("colour", '["red"]'),)
    assert trials == (trial(0, 1e-3),)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    with Record.open(path, header()), pytest.raises(Failed, match="this process writes") as failed:
        Record.open(path, header())
    assert _code(failed) == "F173"
    Record.open(path, header()).close()


_WRITER = """
import sys
from mdh.tuner.records.disk import replace_file
from mdh.tuner.records.file import ROOM, Record
from tests.tune.records.samples import header, trial
with Record.open(sys.argv[1], header()) as record:
    print("open", flush=True)
    number = len(record.trials)
    while True:
        record.append(trial(number, 1e-3 / (number + 1)))
        number += 1
        print(number, flush=True)
"""


def _writer(path: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def test_the_process_that_writes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    process = _writer(path)
    try:
        with pytest.raises(Failed, match=f"process {process.pid} writes|another process writes") as failed:
            Record.open(str(path), header())
        assert _code(failed) == "F173"
    finally:
        process.kill()
        process.communicate()
    Record.open(str(path), header()).close()


def test_kill_loses_the_line_in_flight_at_most(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    told = 0
    for turn in range(4):
        process = _writer(path)
        time.sleep(0.05 + 0.03 * turn)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].split()
        told = int(said[-1]) if said else told
        _, trials, remarks = read_record(str(path))
        assert not [r for r in remarks if "damaged" in r]
        assert told <= len(trials) <= told + 1
        assert [t.number for t in trials] == list(range(len(trials)))
        told = len(trials)
    assert told > 4


def test_truncated_at_every_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # what is on the disk is not asked here, and waiting for it takes minutes
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    whole = tmp_path / "whole.jsonl"
    trials = write(whole, 2)
    data = whole.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    path = tmp_path / "r.jsonl"
    torn = tmp_path / "r.jsonl.torn"
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        torn.unlink(missing_ok=True)
        with Record.open(str(path), header()) as record:
            count = sum(end - 1 <= cut for end in ends[1:])
            assert tuple(record.trials) == trials[:count], cut
            record.append(trial(9, 1.0))
        loaded = read_record(str(path))
        assert loaded == (header(), (*trials[:count], trial(9, 1.0)), ()), cut
        last = max((end for end in ends if end <= cut), default=0)
        lost = data[last:cut] if cut + 1 not in ends else b""
        assert (torn.read_bytes() if torn.exists() else b"") == lost


def test_an_interrupted_write_costs_its_own_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Record.open(str(path), header()) as record:
        record.append(trial(0, 1.0))
        with open(path, "ab") as other:
            other.write(b'{"record":"half a li')
        record.append(trial(1, 1.0))
    _, trials, remarks = read_record(str(path))
    assert trials == (trial(0, 1.0), trial(1, 1.0))
    assert remarks == (f"`{path}`: 1 line is damaged and left out (line 3: it is not JSON)",)


def test_a_lost_header_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    trials = write(path, 3)
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(Failed) as failed:
        read_record(str(path))
    assert _code(failed) == "F174"
    with pytest.raises(Failed) as failed:
        Record.open(str(path), header(N=32))
    assert _code(failed) == "F172"
    with Record.open(str(path), header()) as record:
        assert tuple(record.trials) == trials
    assert read_record(str(path))[:2] == (header(), trials)


def test_a_full_disk_leaves_the_record_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Record.open(str(path), header()) as record:
        record.append(trial(0, 1.0))
        before = path.read_bytes()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
            with pytest.raises(Failed) as failed:
                record.append(trial(1, 1.0))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert _code(failed) == "F111"
        assert path.read_bytes() == before
        record.append(trial(1, 1.0))
    assert read_record(str(path))[1:] == ((trial(0, 1.0), trial(1, 1.0)), ())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_an_error_of_the_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    path = tmp_path / "r.jsonl"

    def failing(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    with Record.open(str(path), header()) as record:
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            with pytest.raises(Failed, match=os.strerror(number).lower()) as failed:
                record.append(trial(0, 1.0))
        assert _code(failed) == "F111"
        assert path.read_bytes() == before


def test_places_that_hold_no_record(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place, code in (
        (tmp_path, "F102"),
        (Path("/dev/full"), "F102"),
        (tmp_path / "file" / "r.jsonl", "F111"),
        (Path("/proc/none/r.jsonl"), "F111"),
        (tmp_path / ("n" * 300), "F111"),
    ):
        with pytest.raises(Failed) as failed:
            Record.open(str(place), header())
        assert _code(failed) == code, place


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for use in (Record.open, lambda path, _: read_record(path)):
        with pytest.raises(Failed) as failed:
            use(str(tmp_path / "pipe"), header())
        assert _code(failed) == "F102"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(Failed) as failed:
            Record.open(str(tmp_path / "r.jsonl"), header())
        assert _code(failed) == "F111"
    finally:
        tmp_path.chmod(0o755)


def test_a_disk_without_room_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    trials = write(path, 2)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
        with pytest.raises(Failed) as failed:
            Record.open(str(path), header())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert _code(failed) == "F111"
    assert path.read_bytes() == before
    with Record.open(str(path), header()) as record:
        assert tuple(record.trials) == trials
    assert path.read_bytes() == before


@pytest.mark.parametrize("end", [b" " * ROOM + b"\n", b" " * 99, b"\n\n"])
def test_what_a_sudden_end_leaves_of_the_look_for_room_is_skipped(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "r.jsonl"
    trials = write(path, 2)
    path.write_bytes(path.read_bytes() + end)
    with Record.open(str(path), header()) as record:
        record.append(trial(2, 1.0))
    assert read_record(str(path))[1:] == ((*trials, trial(2, 1.0)), ())


@pytest.mark.parametrize("filler", [b"\n", b"{}\n", b"\0", b"x" * 99 + b"\n"])
def test_megabytes_of_anything_else_are_refused_in_time(tmp_path: Path, filler: bytes) -> None:
    path = tmp_path / "r.jsonl"
    with path.open("wb") as file:
        file.truncate(0)
        for _ in range(20):
            file.write(filler * ((1 << 20) // len(filler)))
    begun = time.process_time()
    with pytest.raises(Failed) as failed:
        read_record(str(path))
    assert _code(failed) == "F170"
    assert time.process_time() - begun < 2.0


def test_a_record_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, 1)
    os.truncate(path, FILE_LIMIT + 1)
    for use in (lambda: read_record(str(path)), lambda: Record.open(str(path), header())):
        with pytest.raises(Failed) as failed:
            use()
        assert _code(failed) == "F105"


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.symlink_to(path)
    with pytest.raises(Failed, match="F103"):
        read_record(str(path))
    with pytest.raises(Failed, match="F111"):
        Record.open(str(path), header())
    replace_file(path, b"anything")
    assert path.read_bytes() == b"anything"
