"""Folders from which cupy and NVIDIA's driver load machine code, although mdh does not compile with them."""

import os
from contextlib import suppress
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.folders import filled_own, private_folder

_DRIVER = Path("/proc/driver/nvidia")


def keep_cupy_safe() -> None:
    """cupy creates its folder when it is imported, and cannot be imported if that fails."""
    _keep_safe("CUPY_CACHE_DIR", ".cupy/kernel_cache")


def keep_driver_safe() -> None:
    """Guards the folder in which the driver keeps what it makes of PTX, which NVIDIA's OpenCL gives it."""
    if _DRIVER.exists():
        _keep_safe("CUDA_CACHE_PATH", ".nv/ComputeCache")


def _keep_safe(variable: str, place: str) -> None:
    """Replaces a folder that cannot be created, or that others can access, by one that ends with this
    process. place: the folder below the home folder if the variable is not set."""
    # both use only HOME
    home = os.environ.get("HOME")
    wanted = os.environ.get(variable) or (home and f"{home}/{place}")
    try:
        if not wanted:
            raise FileNotFoundError("HOME")
        os.environ[variable] = str(filled_own(Path(wanted)))
    except (Failed, OSError):
        # no folder can be created below this name, so cupy keeps nothing, unless there is a private folder
        os.environ[variable] = f"{os.devnull}/{variable.lower()}"
        with suppress(OSError):
            os.environ[variable] = str(private_folder() / variable.lower())
