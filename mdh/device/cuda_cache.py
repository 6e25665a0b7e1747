"""Folders from which cupy and NVIDIA's driver load machine code, though mdh compiles none with them."""

import os
from contextlib import suppress
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.folders import filled_own, private_folder

_DRIVER = Path("/proc/driver/nvidia")


def keep_cupy_safe() -> None:
    """cupy makes its folder when it is imported, and cannot be imported where that fails."""
    _keep_safe("CUPY_CACHE_DIR", ".cupy/kernel_cache")


def keep_driver_safe() -> None:
    """The driver keeps there what it makes of PTX, which NVIDIA's OpenCL gives it."""
    if _DRIVER.exists():
        _keep_safe("CUDA_CACHE_PATH", ".nv/ComputeCache")


def _keep_safe(variable: str, place: str) -> None:
    """A folder is replaced by one that ends with this process where it cannot be made, or is not this user's
    alone with all that is in it. place: below the home folder, where the variable is unset."""
    # both look at HOME alone
    home = os.environ.get("HOME")
    wanted = os.environ.get(variable) or (home and f"{home}/{place}")
    try:
        if not wanted:
            raise FileNotFoundError("HOME")
        os.environ[variable] = str(filled_own(Path(wanted)))
    except (Failed, OSError):
        # no folder can be made below this name: cupy then keeps nothing, unless a private folder is there
        os.environ[variable] = f"{os.devnull}/{variable.lower()}"
        with suppress(OSError):
            os.environ[variable] = str(private_folder() / variable.lower())
