"""Writes files that are complete at every moment, and locks those that grow for one writer. Raises a
diagnostic if they cannot be written."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.folders import followed, replace_whole
from mdh.textfile import reason


def replace_file(path: str | Path, data: bytes) -> None:
    """Replaces a file atomically: it has either its old content or `data`, whenever the machine stops. Raises
    Failed F111."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(target):
            raise IsADirectoryError(21, "it is a folder")
        # a link stays a link: the file that it leads to is replaced
        replace_whole(followed(target), data)
    except (OSError, ValueError) as error:
        raise unwritten(path, error) from None


def unwritten(path: str | Path, error: Exception) -> Failed:
    """F111 with the system's error about writing `path`."""
    file = next((p for p in Path(path).parents if os.path.isfile(p)), None)
    hint = f"`{file}` is a file; give a folder, or a new name" if file else "give a place that may be written"
    return fail("F111", f"`{path}` cannot be written: {reason(error)}", help=hint)


def open_locked(path: str, flags: int) -> int:
    """A locked handle of the file `path`. The system drops the lock with the process, so none can be stale.
    Raises Failed: F111 cannot be opened, F173 in use."""
    while True:
        try:
            handle = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        except (OSError, ValueError) as error:
            raise unwritten(path, error) from None
        try:
            _lock(handle, path)
            if _still_named(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # replaced between opening and locking: the locked file has no name any more
        os.close(handle)


def _lock(handle: int, path: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _in_use(handle, path) from None
    except OSError as error:
        headline = f"`{path}` cannot be locked against other writers: {reason(error)}"
        raise fail("F111", headline, help="give a place on a file system with locks") from None


def _still_named(handle: int, path: str) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), os.stat(path))
    return False


def _in_use(handle: int, path: str) -> Failed:
    holder = _holder(handle)
    by = "this process" if holder == os.getpid() else f"process {holder}" if holder else "another process"
    return fail(
        "F173", f"`{path}` is in use: {by} writes to it",
        help="wait until it has ended, or write to another record; `mdh db merge` joins the two later",
    )  # fmt: skip


def _holder(handle: int) -> int | None:
    """The process that holds the lock, if the system's table of locks lists it."""
    try:
        with open("/proc/locks", encoding="ascii") as table:
            rows = [row.split() for row in table]
    except OSError:
        return None
    inode = str(os.fstat(handle).st_ino)
    for row in rows:
        # 1: FLOCK ADVISORY WRITE 4711 08:01:123456 0 EOF
        if len(row) >= 6 and row[1] == "FLOCK" and row[5].rsplit(":", 1)[-1] == inode and row[4].isdigit():
            return int(row[4]) or None
    return None
