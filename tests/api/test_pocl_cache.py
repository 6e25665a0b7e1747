"""PoCL gets a folder of its process alone; what outlives the process is whole and of this user."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mdh.device.cache import open_cache
from mdh.device.pocl_cache import PoclFolder, _given
from mdh.folders import ROOM, code_folder
from tests.support.source_tree import ROOT

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give files to others")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/mdh"


def folder(path: Path) -> PoclFolder:
    path.mkdir()
    return PoclFolder(path, private=True)


def build(place: PoclFolder, name: str, *, finished: bool = True) -> bool:
    """As PoCL does it; whether it found what it needs."""
    program = place.path / "AB" / name
    with place.building("text", name):
        found = program.exists()
        program.mkdir(parents=True, exist_ok=True)
        (program / "program.bc").write_bytes(b"code")
    if finished:
        (program / "kernel.so").write_bytes(b"machine code")
    return found


def test_what_was_compiled_is_there_in_the_next_process(tmp_path: Path) -> None:
    first = folder(tmp_path / "1")
    assert not build(first, "A")
    first.save()
    second = folder(tmp_path / "2")
    assert build(second, "A") and not build(second, "B")
    assert (second.path / "AB/A/kernel.so").read_bytes() == b"machine code"


def test_what_is_kept_already_is_not_written_again(tmp_path: Path, cache: Path) -> None:
    first = folder(tmp_path / "1")
    build(first, "A")
    first.save()
    (entry,) = cache.rglob("*.bin")
    inode = entry.stat().st_ino
    second = folder(tmp_path / "2")
    build(second, "A", finished=False)
    build(second, "A", finished=False)
    second.save()
    assert entry.stat().st_ino == inode
    (second.path / "AB/A/for-another-size.so").touch()
    second.save()
    assert entry.stat().st_ino != inode


def test_a_damaged_entry_is_built_anew(tmp_path: Path, cache: Path) -> None:
    first = folder(tmp_path / "1")
    build(first, "A")
    first.save()
    (entry,) = cache.rglob("*.bin")
    raw = bytearray(entry.read_bytes())
    raw[-40] ^= 1
    entry.write_bytes(raw)
    assert not build(folder(tmp_path / "2"), "A")
    assert open_cache().usage().entries == 0


def test_settings_of_pocl_tell_programs_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = folder(tmp_path / "1")
    build(first, "A")
    first.save()
    monkeypatch.setenv("POCL_WORK_GROUP_METHOD", "cbs")
    assert not build(folder(tmp_path / "2"), "A")


def test_the_users_folder_serves_where_it_is_hers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    monkeypatch.setenv("POCL_CACHE_DIR", str(own))
    assert _given() == own
    own.chmod(0o777)
    assert _given() is None


@pytest.mark.parametrize("flag, free", [(os.ST_NOEXEC, ROOM), (0, ROOM - 1)], ids=["noexec", "full"])
def test_code_is_put_where_it_may_run_and_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, flag: int, free: int
) -> None:
    def about(path: Path) -> SimpleNamespace:
        fine = path.is_relative_to(cache)
        return SimpleNamespace(f_flag=0 if fine else flag, f_bavail=ROOM if fine else free, f_frsize=1)

    monkeypatch.setattr(os, "statvfs", about)
    assert code_folder().parent == cache
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="there"):
        code_folder()


RUN = (sys.executable, "-m", "mdh", "run", str(ROOT / "inputs_c/dot.c"))


def ran(*words: str, **environment: str | None) -> "subprocess.CompletedProcess[str]":
    found = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    found.pop("POCL_CACHE_DIR", None)
    return subprocess.run(
        [*RUN, "-D", "K=100", "--device", "opencl:0", "--repeat", "0", "--check", *words],
        env={k: v for k, v in found.items() if v is not None},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_run_reads_nothing_that_pocl_kept_by_itself_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    first = ran(TMPDIR=str(temporary))
    assert first.returncode == 0, first.stderr
    assert not (tmp_path / "cache/pocl").exists() and not list(temporary.iterdir())
    kept = {path: path.stat().st_ino for path in cache.rglob("*.bin")}
    again = ran(TMPDIR=str(temporary))
    assert again.returncode == 0, again.stderr
    # the second run found the finished kernels
    assert {path: path.stat().st_ino for path in cache.rglob("*.bin")} == kept


def test_without_a_home_no_foreseeable_name_is_used(tmp_path: Path) -> None:
    shared = Path("/tmp/pocl")
    before = shared.exists()
    done = ran(HOME=None, XDG_CACHE_HOME=None, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert shared.exists() == before


def test_where_pocl_gets_no_folder_the_message_says_why(tmp_path: Path) -> None:
    """As where all disks are full."""
    program = (
        "import os; from types import SimpleNamespace as N; "
        "os.statvfs = lambda p: N(f_flag=0, f_bavail=0, f_frsize=1); "
        "from mdh.cli.main import run; raise SystemExit(run(['doctor']))"
    )
    found = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    found.pop("POCL_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", program], env=found, capture_output=True, text=True, check=False
    )
    assert (
        "files cannot be kept, or not be executed" in done.stdout and "too little room is free" in done.stdout
    )
