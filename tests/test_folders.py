"""Folders of others are not trusted, private ones go with their process, files are whole at every moment."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.folders import own_folder, private_folder, read_own, replace_own

NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give files to others")


def test_a_missing_folder_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    place = own_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_folder_in_one_where_everybody_may_rename_is_refused(tmp_path: Path) -> None:
    above = tmp_path / "open"
    above.mkdir()
    above.chmod(0o777)
    with pytest.raises(Failed, match="everybody may rename"):
        own_folder(above / "mdh")
    above.chmod(0o1777)
    own_folder(above / "mdh")


@as_root
def test_folders_and_links_of_others_are_refused(tmp_path: Path) -> None:
    own, link, others = tmp_path / "own", tmp_path / "link", tmp_path / "others"
    own.mkdir(mode=0o700)
    link.symlink_to(own)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    others.mkdir(mode=0o700)
    os.chown(others, NOBODY, NOBODY)
    for place in (link, others, others / "below"):
        with pytest.raises(Failed, match=f"user {NOBODY}"):
            own_folder(place)


def test_a_link_of_ours_may_lead_to_another_disk(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    own_folder(tmp_path / "link")


@as_root
def test_files_of_others_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    replace_own(file, b"ours")
    assert read_own(file) == b"ours"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    os.chown(file, NOBODY, NOBODY)
    assert read_own(file) is None


def test_links_pipes_and_files_that_others_may_write_are_not_read(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    replace_own(file, b"ours")
    link.symlink_to(file)
    os.mkfifo(pipe)
    assert read_own(link) is read_own(pipe) is read_own(tmp_path) is None
    file.chmod(0o622)
    assert read_own(file) is None


def test_a_private_folder_goes_with_its_process_and_killed_ones_are_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import os, sys; from mdh.folders import private_folder as p; p(); "
    for end in ("", "os.kill(os.getpid(), 9)"):
        command = [sys.executable, "-c", program + end]
        subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = tmp_path.iterdir()
    stranger = tmp_path / "mdh-notes"
    stranger.mkdir()
    for path in (left, stranger):
        os.utime(path, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("mdh.folders._made", {})
    own = private_folder()
    assert set(tmp_path.iterdir()) == {own, stranger}
