"""Compilers that fail for the machine's sake, and for a text's: which is which, and what is left behind."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mdh.device import c_run
from mdh.device.api import open_device
from mdh.device.c import CDevice
from mdh.diagnostics import Failed
from mdh.folders import private_folder
from mdh.ir.dtype import F32
from mdh.results.trial import Failure, Outcome
from mdh.target.emit import emit
from mdh.target.text import KernelText
from mdh.tuner.measure.failures import wordless
from tests.target import features

Wrapped = Callable[[str], CDevice]
TEXT = emit(*features.scaled("c", F32, 8))


@pytest.fixture
def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wrapped:
    """The device whose compiler first runs some lines of shell; `$text` is set where it builds a kernel."""

    def device(lines: str) -> CDevice:
        wrapper = tmp_path / "cc"
        wrapper.write_text(
            f"#!/bin/sh\ncd {tmp_path}\nunset text probe\n"
            'case "$*" in *mdh_probe*) probe=1 ;; *-shared*) text=1 ;; esac\n'
            f'{lines}\nexec cc "$@"\n',
            encoding="utf-8",
        )
        wrapper.chmod(0o755)
        monkeypatch.setenv("CC", str(wrapper))
        monkeypatch.setattr("mdh.device.c_compiler._PAUSE", 0.0)
        opened = open_device("c")
        assert isinstance(opened, CDevice)
        return opened

    return device


def refused(device: CDevice, text: KernelText = TEXT) -> tuple[str, str]:
    with pytest.raises(Failed) as found:
        device.build(text)
    first = found.value.diagnostics[0]
    return first.code, " ".join((first.headline, *first.notes[:1]))


KILLED = "echo gcc: fatal error: Killed signal terminated program cc1 >&2; exit 1"
OUT = 'until [ "$1" = -o ]; do shift; done'
EMPTY = f'{OUT}; : >"$2"; exit 0'
GARBAGE = f'{OUT}; head -c 20000 /dev/zero >"$2"; exit 0'
CUT = f'cc "$@"; {OUT}; truncate -s -64 "$2"; exit 0'


@pytest.mark.parametrize("fault", ["kill -9 $$", "exit 1", "exit 0", KILLED, EMPTY, GARBAGE, CUT])
def test_a_compiler_that_fails_once_is_asked_again(wrapped: Wrapped, fault: str) -> None:
    device = wrapped(f"[ -z $text ] || [ -e once ] || {{ touch once; {fault}; }}")
    assert device.build(TEXT).image
    assert not list(private_folder().glob("c-*"))


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("kill -9 $$", "D113", "fails on every text: it was ended by signal 9"),
        ("exit 3", "D113", "fails on every text: it says nothing (status 3)"),
        (CUT, "D113", "fails on every text: it leaves no whole library"),
        ("echo 'ld: final link failed: No space left on device' >&2; exit 1", "D114", "final link failed"),
        ("echo 'cc1: error: vfork: Resource temporarily unavailable' >&2; exit 1", "D113", "vfork"),
    ],
)
def test_one_that_fails_on_every_text_is_the_machine_s(
    wrapped: Wrapped, fault: str, code: str, said: str
) -> None:
    device = wrapped(f"[ -z $text$probe ] || {{ {fault}; }}")
    found = refused(device)
    assert found[0] == code
    assert said in found[1]


@pytest.mark.parametrize("fault", ["kill -9 $$", "exit 1"])
def test_one_that_fails_on_one_text_alone_refuses_it(
    wrapped: Wrapped, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    device = wrapped(f"[ -z $text ] || {{ echo x >>count; {fault}; }}")
    code, said = refused(device)
    assert code == "D103"
    assert wordless(Outcome(Failure.COMPILE, code, said))
    assert len((tmp_path / "count").read_text().split()) == 2


def test_an_error_of_the_text_is_believed_at_once(
    wrapped: Wrapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    device = wrapped("[ -z $text$probe ] || echo x >>count")
    assert refused(device, dataclasses.replace(TEXT, source="int no C at all\n"))[0] == "D103"
    assert len((tmp_path / "count").read_text().split()) == 1


def test_a_compiler_that_hangs_is_ended_with_all_it_started(
    wrapped: Wrapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = wrapped('[ -z $text ] || { sh -c "echo \\$\\$ >pid; sleep 60; true"; exit 1; }')
    monkeypatch.setattr(c_run, "SECONDS", 1)
    assert refused(device)[0] == "D112"
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 5.0
    while _lives(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device = open_device("c")
    assert isinstance(device, CDevice)
    image = device.build(TEXT).image
    monkeypatch.setattr("mdh.folders._made", {})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    for work in (lambda: device.build(TEXT), lambda: device.load(TEXT, image)):
        with pytest.raises(Failed, match="D114"):
            work()


def test_files_that_may_not_be_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    device = open_device("c")
    assert isinstance(device, CDevice)
    image = device.build(TEXT).image

    def noexec(path: str, mode: int) -> None:
        raise OSError(f"{path}: failed to map segment from shared object: Operation not permitted")

    monkeypatch.setattr("ctypes.CDLL", noexec)
    with pytest.raises(Failed, match="D114"):
        device.load(TEXT, image)
