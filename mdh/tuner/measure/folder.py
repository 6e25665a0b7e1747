"""The private folder of a bench: the job, expected results, workers' files, and runtimes' caches."""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import time

from mdh.folders import PrivateFolder, make_private
from mdh.results.trial import Job

_KEPT = 256
"""The number of newest builds of a runtime's own cache that `trim_runtime` keeps."""
_IDLE = 300.0
"""Seconds after which a build is not waiting to be measured any more."""
_FOLDERS = {"POCL_CACHE_DIR": "pocl", "CUDA_CACHE_PATH": "cuda", "CUPY_CACHE_DIR": "cupy", "TMPDIR": "tmp"}
"""Folders of workers and their compilers, by the environment variable that names them."""


def make_folder(job: Job) -> PrivateFolder:
    """A new folder for the owner alone. Folders that killed benches left behind are removed. Raises
    OSError."""
    made = make_private()
    try:
        for part in ("expected", *_FOLDERS.values()):
            (made.path / part).mkdir()
        (made.path / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
    except OSError:
        made.remove()
        raise
    return made


def environment(folder: Path) -> dict[str, str]:
    """Environment variables with which runtimes find builds of other workers, use no cache of the user, and
    leave nothing behind."""
    return {**os.environ, **{name: str(folder / part) for name, part in _FOLDERS.items()}}


def trim_runtime(folder: Path) -> None:
    """Removes old builds of PoCL's cache, which has no limit of its own."""
    builds = []
    for path in (folder / "pocl").glob("*/*"):
        with suppress(OSError):
            builds.append((path.stat().st_mtime, path))
    for changed, path in sorted(builds)[:-_KEPT]:
        if time() - changed > _IDLE:
            shutil.rmtree(path, ignore_errors=True)
