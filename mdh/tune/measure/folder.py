"""The private folder of a bench: the job, expected results, what workers hand over, runtimes' caches."""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

from mdh.tune.measure.wire import job_json
from mdh.tune.values import Job

_PREFIX = "mdh-bench-"
_KEPT = 256
"""Builds of a runtime's own cache that `trim_runtime` leaves, the newest."""
_IDLE = 300.0
"""Seconds after which a build is no longer on its way to be measured."""


def make_folder(job: Job) -> Path:
    """A new folder for the owner alone; those that killed benches left behind are removed. Raises OSError."""
    _remove_orphans()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    (folder / "expected").mkdir()
    (folder / "pocl").mkdir()
    (folder / "cuda").mkdir()
    (folder / "job.json").write_text(json.dumps(job_json(job)), encoding="utf-8")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """OpenCL runtimes find what another worker built, touch no cache of the user's, and leave nothing."""
    own = {"POCL_CACHE_DIR": str(folder / "pocl"), "CUDA_CACHE_PATH": str(folder / "cuda")}
    return {**os.environ, **own}


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
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = path.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError, ValueError):
            if path.lstat().st_uid == os.getuid() and not Path(f"/proc/{int(owner)}").exists():
                shutil.rmtree(path, ignore_errors=True)
