"""Folders and files whose contents nobody else can choose.

What mdh keeps between runs decides what machine code it runs later: it lies in folders of this user that
nobody else may write to. What a process needs for itself alone lies in a private folder that goes with it.
Nothing here has a name in a shared folder that somebody else could foresee, and no link is followed there.
"""

import atexit
import errno
import fcntl
import grp
import os
import pwd
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

from mdh.diagnostics import Failed, fail
from mdh.textfile import reason

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ACCESS_LIST = "system.posix_acl_access"
_USERS = Path("/proc/self/uid_map")
_STAND_IN = 65534
"""Of users that a namespace has no number for."""
_PREFIX = "mdh-"
_LINKS = 40
"""From one to the next, as many as Linux follows."""
_LOCK = "owner"
_NEW = 60.0
"""Seconds in which the maker of a private folder has surely locked it."""
ROOM = 16 << 20
"""Free bytes that a folder must have for machine code that a runtime writes into it."""


def cache_home() -> Path:
    """`$XDG_CACHE_HOME/mdh`, or `~/.cache/mdh` where that is unset. It need not exist."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        return Path(home) / "mdh"
    # the home of the user database where HOME is unset; `~` itself, which nobody has, where there is none
    return Path(os.path.expanduser("~")) / ".cache" / "mdh"


def own_folder(place: Path) -> Path:
    """`place` without links in it, made with mode 0700 where it is missing. Raises Failed F160: it cannot be
    made or written, is no folder, belongs to somebody else, or others may write to it or to a folder above it
    and so choose what runs. A folder like /tmp, where others may add names but not touch ours, may be above
    it."""
    try:
        _make(place)
        # a link of ours may lead to a larger disk: what it leads to is judged, and so is the link
        _demand_owner(place, place.lstat())
        real = place.resolve(strict=True)
        why = replaceable(real)
        status = real.lstat()
    except (OSError, RuntimeError) as error:
        raise _refused(place, f"it cannot be made: {reason(error)}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise _refused(place, "it is not a folder")
    _demand_owner(place, status)
    if status.st_mode & _OTHERS:
        raise _refused(place, f"others may write to it (mode {stat.S_IMODE(status.st_mode):04o})")
    if not os.access(real, os.R_OK | os.W_OK | os.X_OK):
        raise _refused(place, f"it may not be written (mode {stat.S_IMODE(status.st_mode):04o})")
    if why:
        raise _refused(place, why)
    # the links on the way to it may lead elsewhere by now
    return real


def _make(place: Path) -> None:
    """Folders above it that are missing are the user's alone too, whatever the umask says. Raises OSError."""
    for folder in reversed([p for p in (place, *place.parents) if not p.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def _demand_owner(place: Path, status: os.stat_result) -> None:
    if status.st_uid != os.getuid():
        raise _refused(place, f"it belongs to user {status.st_uid}")


def replaceable(real: Path) -> str:
    """Says who besides this user and root can replace what lies at `real`, a path without links. Empty where
    nobody can. Raises OSError."""
    # folders are judged from the root down: what lies in a safe folder cannot be replaced while we look
    for above in reversed(real.parents):
        status = above.lstat()
        if status.st_uid not in (os.getuid(), 0) and not _of_the_system(above, status.st_uid):
            return f"the folder `{above}` above it belongs to user {status.st_uid}"
        if status.st_mode & stat.S_ISVTX:
            continue
        if status.st_mode & stat.S_IWOTH:
            return f"everybody may rename what lies in the folder `{above}` above it"
        if status.st_mode & stat.S_IWGRP and not _alone(above, status.st_gid):
            return f"group {status.st_gid} may rename what lies in the folder `{above}` above it"
    return ""


def _of_the_system(folder: Path, owner: int) -> bool:
    """A sandbox may not know root's number. There `/` and the folders right below it belong to a stand-in
    user. Only root can have made these."""
    if owner != _STAND_IN or len(folder.parts) > 2:
        return False
    with suppress(OSError, ValueError):
        known = (line.split() for line in _USERS.read_text("ascii").splitlines())
        return not any(int(first) <= owner < int(first) + int(count) for first, _, count in known)
    return False


def _alone(folder: Path, group: int) -> bool:
    """The folder's group has no members besides this user and root, and the folder has no access list."""
    with suppress(OSError):
        os.getxattr(folder, _ACCESS_LIST, follow_symlinks=False)
        return False
    user = os.getuid()
    with suppress(KeyError):
        known = grp.getgrgid(group)
        name = pwd.getpwuid(user).pw_name
        # many systems give each user a group of the same name
        return (group == 0 or known.gr_name == name) and not set(known.gr_mem) - {name, "root"}
    return group in (0, user)


def filled_own(place: Path) -> Path:
    """As `own_folder`; all that lies in it is this user's or root's too, and no link. For runtimes that load
    what they find: others may have put something there when they could. Raises Failed F160."""
    folder = own_folder(place)
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            # other processes may be at work there
            with suppress(FileNotFoundError):
                status = os.lstat(os.path.join(above, name))
                if status.st_uid not in (os.getuid(), 0) or stat.S_ISLNK(status.st_mode):
                    raise _refused(place, f"`{name}` in it belongs to user {status.st_uid}, or is a link")
    return folder


def _refused(place: Path, why: str) -> Failed:
    hint = "chmod 700 it, or set XDG_CACHE_HOME to a folder of your own"
    return fail("F160", f"`{place}` does not serve as cache of machine code: {why}", help=hint)


def read_own(path: Path) -> bytes | None:
    """The bytes of a regular file of this user that nobody else may write; None for everything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
        if not ours or status.st_mode & _OTHERS:
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    except (OSError, MemoryError):
        return None
    finally:
        os.close(handle)


def followed(path: Path) -> Path:
    """Where a text for `path` goes: a link stays one, and what it leads to is replaced. One that another user
    has put into a folder like /tmp is not followed; most systems do not follow it either. Raises OSError."""
    for _ in range(_LINKS):
        try:
            status = path.lstat()
        except FileNotFoundError:
            return path
        if not stat.S_ISLNK(status.st_mode):
            return path
        folder = path.parent.stat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if shared and status.st_uid not in (os.getuid(), folder.st_uid):
            raise PermissionError(errno.EACCES, f"user {status.st_uid} has put a link there", str(path))
        path = path.parent / path.readlink()
    # of a circle one is replaced
    return path


def replace_own(path: Path, data: bytes) -> None:
    """As `replace_whole`, with mode 0600."""
    replace_whole(path, data, mode=0o600)


def replace_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """The file has either its old content or `data`, whenever the process or the machine stops. A link is
    replaced, not what it leads to. mode: None keeps that of an own file that is replaced, else takes what the
    umask leaves of 0666. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, _mode_of(path) if mode is None else mode)
            os.fsync(handle)
        os.replace(name, path)
        sync_folder(path.parent)
    finally:
        # it is gone where it has taken the place of `path`
        Path(name).unlink(missing_ok=True)


def sync_folder(folder: str | Path) -> None:
    """A new name in the folder outlives a loss of power, where the file system can promise that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode_of(path: Path) -> int:
    with suppress(OSError):
        status = path.stat()
        # somebody else's would let him write to ours
        if status.st_uid == os.getuid():
            return status.st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """A folder (mode 0700) under the folder of temporary files. Its maker holds a lock in it, by which others
    know that it is in use. process: that of the maker."""

    path: Path
    lock: int
    process: int

    def there(self) -> bool:
        """It may have been removed since, where files that lie long are, and somebody else may have made one
        of its name."""
        try:
            status = self.path.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()

    def remove(self) -> None:
        """Does nothing in a process that was forked from the maker."""
        if os.getpid() == self.process:
            shutil.rmtree(self.path, ignore_errors=True)
            with suppress(OSError):
                os.close(self.lock)


_made: dict[tuple[int, Path | None], PrivateFolder] = {}


def private_folder(above: Path | None = None) -> Path:
    """The private folder of this process below `above` (None: the folder of temporary files); it is removed
    when the process ends. The first call removes those that killed processes of this user left behind. Raises
    OSError."""
    made = _made.get((os.getpid(), above))
    if made is None or not made.there():
        made = _made[os.getpid(), above] = make_private(above)
        atexit.register(made.remove)
    return made.path


def make_private(above: Path | None = None) -> PrivateFolder:
    """A new private folder for which the caller is responsible. Raises OSError, also where others could put
    another one in its place."""
    place = Path(tempfile.gettempdir() if above is None else above).resolve(strict=True)
    if replaceable(place / _PREFIX):
        raise PermissionError(errno.EACCES, "others may rename what lies there or above", str(place))
    _remove_orphans(place)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    try:
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        # without a lock nobody else would remove it
        folder.rmdir()
        raise
    fcntl.flock(lock, fcntl.LOCK_EX)
    return PrivateFolder(folder, lock, os.getpid())


def code_folder() -> Path:
    """A private folder of this process for machine code that is loaded from files: below the folder of
    temporary files, or else below `cache_home()`, where files may be executed and ROOM bytes are free. Raises
    OSError."""
    try:
        folder = private_folder()
        demand_code(folder)
    except OSError as error:
        try:
            folder = private_folder(own_folder(cache_home()))
            demand_code(folder)
        except (OSError, Failed):
            raise error from None
    return folder


def demand_code(folder: Path) -> None:
    """Raises OSError where no code may be loaded from the folder, or where it is as good as full."""
    about = os.statvfs(folder)
    if about.f_flag & os.ST_NOEXEC:
        raise PermissionError(errno.EACCES, "files there may not be executed", str(folder.parent))
    if about.f_bavail * about.f_frsize < ROOM:
        raise OSError(errno.ENOSPC, "too little room is free there", str(folder.parent))


def scratch(purpose: str) -> "tempfile.TemporaryDirectory[str]":
    """A folder for one job of this process, inside its private one: `with scratch("c") as name`. Raises
    OSError."""
    return tempfile.TemporaryDirectory(prefix=f"{purpose}-", dir=private_folder(), ignore_cleanup_errors=True)


def unserving(why: OSError | str) -> Failed:
    """D114: files of a process have no place in the folder for temporary files."""
    # the loader's errors have no number, and their words name a file that is gone
    said = why if isinstance(why, str) else reason(why)
    return fail(
        "D114", f"files cannot be kept, or not be executed, in `{temporary_place()}`: {said[:300]}",
        help="free some room there, or set TMPDIR to a folder on a disk that has it and runs programs",
    )  # fmt: skip


def temporary_place() -> str:
    """The folder for temporary files that messages name: the one of TMPDIR also where it takes no file and
    Python goes on to another, since it is the one to be mended."""
    if chosen := os.environ.get("TMPDIR"):
        return chosen
    try:
        return tempfile.gettempdir()
    except OSError:
        # none of all folders takes a file
        return "/tmp"


def _remove_orphans(place: Path) -> None:
    """Private folders of this user whose lock nobody holds."""
    for path in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = path.lstat()
            old = time() - status.st_mtime > _NEW
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and old and _orphaned(path):
                shutil.rmtree(path, ignore_errors=True)


def _orphaned(folder: Path) -> bool:
    """It is a private folder, and nobody holds the lock."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
