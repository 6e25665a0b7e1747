"""The folder that cupy makes for its own kernels when it is imported, though mdh compiles none with it."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_FOLDER = "CUPY_CACHE_DIR"


def keep_importable() -> None:
    """Where that folder cannot be made, as in a read-only home, importing cupy fails; then it gets one that
    ends with this process."""
    wanted = os.environ.get(_FOLDER) or Path.home() / ".cupy" / "kernel_cache"
    try:
        os.makedirs(wanted, exist_ok=True)
    except OSError:
        made = tempfile.mkdtemp(prefix="mdh-cupy-")
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        os.environ[_FOLDER] = made
