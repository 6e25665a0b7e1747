"""The private folder of a bench: the job, expected results, what workers hand over, runtimes' caches."""

import fcntl
import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

from mdh.tune.measure.wire import job_json
from mdh.tune.values import Job

_PREFIX = "mdh-bench-"
_LOCK = "owner"
_NEW = 60.0
"""Seconds in which the maker of a folder has surely locked it."""
_KEPT = 256
"""Builds of a runtime's own cache that `trim_runtime` leaves, the newest."""
_IDLE = 300.0
"""Seconds after which a build is no longer on its way to be measured."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that its maker holds a lock in, by which others know that it is in use."""

    path: Path
    lock: int

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def make_folder(job: Job) -> Folder:
    """A new folder for the owner alone; those that killed benches left behind are removed. Raises OSError."""
    _remove_orphans()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / "expected").mkdir()
    (folder / "pocl").mkdir()
    (folder / "cuda").mkdir()
    (folder / "job.json").write_text(json.dumps(job_json(job)), encoding="utf-8")
    return Folder(folder, lock)


def environment(folder: Path) -> dict[str, str]:
    """Runtimes find what another worker built, touch no cache of the user's, and leave nothing."""
    names = {"POCL_CACHE_DIR": "pocl", "CUDA_CACHE_PATH": "cuda", "CUPY_CACHE_DIR": "cupy"}
    return {**os.environ, **{name: str(folder / part) for name, part in names.items()}}


def trim_runtime(folder: Path) -> None:
    """Removes old builds of PoCL's cache, which has no limit of its own."""
    builds = []
    for path in (folder / "pocl").glob("*/*"):
        with suppress(OSError):
            builds.append((path.stat().st_mtime, path))
    for changed, path in sorted(builds)[:-_KEPT]:
        if time() - changed > _IDLE:
            shutil.rmtree(path, ignore_errors=True)


def _remove_orphans() -> None:
    """Folders of this user whose lock nobody holds."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = path.lstat()
            if status.st_uid == os.getuid() and time() - status.st_mtime > _NEW and not _in_use(path):
                shutil.rmtree(path, ignore_errors=True)


def _in_use(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False
