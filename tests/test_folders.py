"""Folders of others are not trusted, private ones go with their process, files are whole at every moment."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.folders import (
    filled_own,
    followed,
    make_private,
    own_folder,
    private_folder,
    read_own,
    replace_own,
    replace_whole,
    replaceable,
)

NOBODY = 65534
ACCESS_LIST = "02000000 01000700ffffffff 02000700feff0000 04000500ffffffff 10000700ffffffff 20000500ffffffff"
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


@as_root
def test_links_on_the_way_are_followed_once(tmp_path: Path) -> None:
    """Whoever made them may let them lead elsewhere later."""
    (tmp_path / "disk").mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "disk")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert own_folder(link / "mdh") == tmp_path / "disk" / "mdh"


@as_root
@pytest.mark.parametrize(
    ("mode", "owner", "group"), [(0o777, 0, 0), (0o1777, NOBODY, 0), (0o775, 0, NOBODY), (0o755, NOBODY, 0)]
)
def test_nothing_lies_where_others_may_rename_it(tmp_path: Path, mode: int, owner: int, group: int) -> None:
    above = tmp_path / "theirs"
    (above / "tmp").mkdir(parents=True)
    os.chown(above, owner, group)
    above.chmod(mode)
    for place in (above, above / "tmp"):
        with pytest.raises(PermissionError, match="others may rename"):
            make_private(place)
    with pytest.raises(Failed, match="F160"):
        own_folder(above / "cache")


@as_root
def test_groups_of_one_may_write_above(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    os.chown(tmp_path, 0, 0)
    make_private(tmp_path).remove()
    try:
        # user 65534 may write too, as a further list says
        os.setxattr(tmp_path, "system.posix_acl_access", bytes.fromhex(ACCESS_LIST))
    except OSError:
        pytest.skip("no access lists here")
    with pytest.raises(PermissionError, match="others may rename"):
        make_private(tmp_path)


def test_folders_above_a_new_one_are_the_users_too(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        own_folder(tmp_path / "a" / "b")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


@as_root
def test_a_private_folder_that_somebody_else_has_replaced_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdh.folders._made", {})
    first = private_folder(tmp_path)
    assert private_folder(tmp_path) == first
    os.chown(first, NOBODY, NOBODY)
    assert private_folder(tmp_path) != first


@pytest.mark.parametrize(("known", "refused"), [("0 0 4294967295", True), ("0 1000 1", False)])
def test_a_sandbox_that_does_not_know_root(
    known: str, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the owner of `/` and `/tmp` is shown as 65534."""
    about = tmp_path / "uid_map"
    about.write_text(f"{known}\n")
    monkeypatch.setattr("mdh.folders._USERS", about)
    monkeypatch.setattr("mdh.folders.os.getuid", lambda: NOBODY + 1)
    monkeypatch.setattr(Path, "lstat", lambda path: os.stat_result((0o40755, 0, 0, 2, NOBODY, 0, 0, 0, 0, 0)))
    assert bool(replaceable(Path("/tmp/mdh"))) == refused
    assert replaceable(Path("/tmp/theirs/mdh"))


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


@as_root
def test_runtimes_get_no_folder_in_which_others_have_put_something(tmp_path: Path) -> None:
    place, file = tmp_path / "cache", tmp_path / "cache" / "a" / "code.so"
    filled_own(place)
    file.parent.mkdir()
    file.touch()
    assert filled_own(place) == place
    os.chown(file, NOBODY, NOBODY)
    with pytest.raises(Failed, match=f"`code.so` in it belongs to user {NOBODY}"):
        filled_own(place)
    file.unlink()
    file.symlink_to("/dev/null")
    with pytest.raises(Failed, match="or is a link"):
        filled_own(place)


@as_root
def test_links_of_others_in_a_shared_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    link, own = tmp_path / "link", tmp_path / "own"
    link.symlink_to("mine")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert followed(link) == tmp_path / "mine"
    tmp_path.chmod(0o1777)
    own.symlink_to(link)
    for path in (link, own):
        with pytest.raises(PermissionError, match=f"user {NOBODY}"):
            followed(path)
    os.chown(link, 0, 0, follow_symlinks=False)
    assert followed(own) == tmp_path / "mine"
    link.unlink()
    link.symlink_to(own)
    assert followed(link) in (link, own)


@as_root
def test_the_mode_of_a_strangers_file_is_not_kept(tmp_path: Path) -> None:
    for owner, mode in ((0, 0o755), (NOBODY, 0o666 & ~_umask())):
        file = tmp_path / str(owner)
        file.touch()
        file.chmod(0o4777 if owner else 0o4755)
        os.chown(file, owner, owner)
        file.chmod(0o4777 if owner else 0o4755)
        replace_whole(file, b"")
        assert stat.S_IMODE(file.stat().st_mode) == mode


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
