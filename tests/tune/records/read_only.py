"""A folder in which nothing can be written, as root too."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def lockable(place: Path) -> Iterator[Callable[[], None] | None]:
    """Makes the folder `place` and gives what locks it: from then on nothing in it can be made, changed or
    removed. None where this user is root and may mount no disk, since no mode of a folder stops root."""
    place.mkdir(mode=0o700)
    if os.geteuid():
        try:
            yield lambda: _modes(place, 0o500, 0o400)
        finally:
            _modes(place, 0o700, 0o600)
    elif not _mount("-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", str(place)):
        yield None
    else:
        try:
            yield lambda: _read_only(place)
        finally:
            subprocess.run(["umount", "-l", str(place)], check=False)


def _read_only(place: Path) -> None:
    if not _mount("-o", "remount,ro", str(place)):
        raise OSError(f"{place} cannot be made read-only")


def _modes(place: Path, folders: int, files: int) -> None:
    # a folder that may not be entered hides what is in it
    place.chmod(0o700)
    for path in sorted(place.rglob("*"), reverse=True):
        path.chmod(folders if path.is_dir() else files)
    place.chmod(folders)


def _mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0
