"""PoCL ends the process where its linker fails: that is seen beforehand, and no candidate is held for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mdh.device.api import open_device
from mdh.device.pocl_linker import demand_linker, forget_damaged, unlinked
from mdh.diagnostics import Failed
from mdh.ir.dtype import F32
from mdh.report.health import findings
from mdh.results.trial import Failure, Outcome
from mdh.target.emit import emit
from mdh.tuner.measure.failures import misbooked
from mdh.tuner.measure.process import Died
from tests.target import features

Linker = Callable[[str], None]
OUT = 'until [ "$1" = -o ]; do shift; done'


@pytest.fixture
def linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Linker:
    """Puts a program in the linker's place. In `tmp_path`."""
    (tmp_path / "bin").mkdir()
    demand_linker.cache_clear()

    def put(lines: str) -> None:
        script = tmp_path / "bin/ld"
        script.write_text(f'#!/bin/sh\n{lines}\nexec /usr/bin/ld "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    return put


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        ("exit 1", "D102", "fails: it says nothing (status 1)"),
        ("kill -9 $$", "D102", "fails: it says nothing (status -9)"),
        (f'{OUT}; : >"$2"; exit 0', "D102", "fails: it leaves no whole library"),
        ("echo ld: final link failed: No space left on device >&2; exit 1", "D114", "No space left"),
    ],
)
def test_a_linker_that_fails_is_told_before_a_kernel_ends_the_process(
    linker: Linker, lines: str, code: str, said: str
) -> None:
    linker(lines)
    device = open_device("opencl:0")
    with pytest.raises(Failed) as found:
        device.build(emit(*features.scaled("opencl", F32, 8)))
    first = found.value.diagnostics[0]
    assert first.code == code
    assert said in first.headline


def test_one_that_fails_once_is_asked_again(linker: Linker, tmp_path: Path) -> None:
    linker(f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; kill -9 $$; }}")
    demand_linker(tmp_path)
    assert (tmp_path / "once").exists()
    assert not list(tmp_path.glob("ld-*"))


def test_without_one(linker: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    with pytest.raises(Failed, match=r"D102.*there is no linker"):
        demand_linker(tmp_path)
    told = next(f for f in findings() if f.name == "ld")
    assert told.state == "absent" and "gcc" in told.fix


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        ("Final linking of kernel matmul_kernel failed.", True),
        ("error: linker command failed with exit code 1 (use -v to see invocation)", True),
        ("dlopen(\"/tmp/k.so\") failed with '/tmp/k.so: cannot read file data'.", True),
        ("dlopen(\"/tmp/k.so\") failed with '/tmp/k.so: undefined symbol: _Z3fooDv8_f'.", False),
        ("free(): invalid pointer", False),
    ],
)
def test_a_process_that_ended_so_speaks_against_no_candidate(words: str, machine: bool) -> None:
    assert unlinked(words) is machine
    assert Died(-6, words).doubtful is machine
    assert misbooked(Outcome(Failure.CRASH, "D131", f"launch ended by SIGABRT: {words}")) is machine


def test_a_file_that_cannot_be_loaded_goes(tmp_path: Path) -> None:
    kernels, other = tmp_path / "pocl", tmp_path / "other.so"
    kernels.mkdir()
    damaged = kernels / "k.so"
    for path in (damaged, other):
        path.touch()
    for name, why in (
        (damaged, "undefined symbol: f"),
        (other, "file too short"),
        (damaged, "file too short"),
    ):
        assert damaged.exists()
        forget_damaged(f"dlopen(\"{name}\") failed with '{name}: {why}'.", kernels)
    assert other.exists() and not damaged.exists()
