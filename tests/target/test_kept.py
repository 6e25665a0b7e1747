"""Texts that a compiler refused are kept in a folder of this user's, and never where others can foresee."""

import os
import stat
from pathlib import Path

import pytest

from mdh.folders import own_folder
from mdh.ir.dtype import F32
from mdh.target.emit import emit
from mdh.target.kept import FILES, LOG, keep_refused
from tests.target import features

TEXT = emit(*features.scaled("c", F32, 4))


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return own_folder(tmp_path / "mdh") / "refused"


def test_a_text_and_what_the_compiler_said(refused: Path) -> None:
    kept = keep_refused(TEXT, "/tmp/x.c:1: error", called="/tmp/x.c")
    path = Path(kept.name)
    assert path.parent == refused and path.read_text() == TEXT.source
    assert path.with_suffix(".log").read_text() == f"{path}:1: error"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_not_followed(refused: Path, tmp_path: Path) -> None:
    path = Path(keep_refused(TEXT).name)
    path.unlink()
    (tmp_path / "other").write_text("mine")
    path.symlink_to(tmp_path / "other")
    assert keep_refused(TEXT).name == str(path)
    assert (tmp_path / "other").read_text() == "mine" and path.read_text() == TEXT.source


def test_a_long_log_is_cut(refused: Path) -> None:
    log = Path(keep_refused(TEXT, "x" * (LOG + 1234)).name).with_suffix(".log").read_text()
    assert len(log) < LOG + 100 and "1,234 further bytes are left out" in log


def test_the_newest_stay(refused: Path) -> None:
    keep_refused(TEXT)
    for number in range(FILES + 5):
        old = refused / f"old-{number}.c"
        old.touch()
        os.utime(old, (number, number))
    path = keep_refused(TEXT).name
    left = {str(p) for p in refused.iterdir()}
    assert len(left) == FILES and path in left and str(refused / "old-0.c") not in left


def test_without_a_folder_a_new_one_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = Path(keep_refused(TEXT, "said").name)
    assert path.parent.parent == tmp_path and path.read_text() == TEXT.source


def test_without_any_place_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert keep_refused(TEXT, "said").note.startswith("the text cannot be kept: ")
