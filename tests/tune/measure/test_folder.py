"""The bench's folder: the owner's alone, gone at the end, and those of killed benches with it."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from mdh.tuner.measure.folder import environment, make_folder, trim_runtime
from tests.tune.measure.bench import JOB


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _age(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_it_is_private_and_goes() -> None:
    folder = make_folder(JOB)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert environment(folder.path)["POCL_CACHE_DIR"].startswith(str(folder.path))
    folder.remove()
    assert not folder.path.exists()


def test_folders_of_killed_benches_go_and_those_in_use_stay(tmp_path: Path) -> None:
    used = make_folder(JOB)
    left = tmp_path / "mdh-left"
    fresh = tmp_path / "mdh-fresh"
    for path in (left, fresh):
        path.mkdir()
        (path / "owner").touch()
    _age(used.path, 1000)
    _age(left, 1000)
    another = make_folder(JOB)
    assert used.path.exists()
    assert fresh.exists()
    assert not left.exists()
    used.remove()
    another.remove()


def test_a_runtime_keeps_its_newest_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdh.tuner.measure.folder._KEPT", 2)
    folder = make_folder(JOB)
    for i in range(5):
        build = folder.path / "pocl" / "AB" / str(i)
        build.mkdir(parents=True)
        _age(build, 1000 * (5 - i))
    trim_runtime(folder.path)
    assert sorted(p.name for p in (folder.path / "pocl" / "AB").iterdir()) == ["3", "4"]
    folder.remove()
