"""Finds OpenCL drivers that are installed but not registered, so that the loader alone would miss them.

Intel's wheel for CPUs registers itself by a file whose path was never filled in, and lacks libraries that
another wheel has. In containers NVIDIA's driver often comes without its registration.
"""

import ctypes
import os
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.folders import cache_home, own_folder, private_folder, read_own, replace_own

SYSTEM = Path("/etc/OpenCL/vendors")
_NVIDIA = "libnvidia-opencl.so.1"
_INTEL, _INTEL_NEEDS = "libintelocl.so", "libimf.so"


def vendors() -> str | None:
    """The value of $OCL_ICD_VENDORS with which the loader finds every driver; None if none is needed. It
    is a folder of files that each name a driver, and it replaces the system's folder. pyopencl's own
    drivers stay."""
    if "OCL_ICD_VENDORS" in os.environ:
        return None
    registered = _registered()
    found = [str(_intel())] if _intel().exists() and (_libraries() / _INTEL_NEEDS).exists() else []
    # after the others, so that devices keep their numbers
    found += [_NVIDIA] if not any("nvidia" in driver for driver in registered) and _loads(_NVIDIA) else []
    return _folder([*registered, *found]) if found else None


def _libraries() -> Path:
    """The folder in which wheels put libraries that are not Python's."""
    return Path(sysconfig.get_path("data")) / "lib"


def _intel() -> Path:
    return _libraries() / _INTEL


def _registered() -> list[str]:
    """The system's drivers, by its files."""
    try:
        return [p.read_text(encoding="utf-8").strip() for p in sorted(SYSTEM.glob("*.icd"))]
    except (OSError, ValueError):
        return []


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _folder(drivers: Sequence[str]) -> str | None:
    """A folder with a file for each driver and no others. It lies beside the kept machine code, or else
    belongs to this process alone. None if neither can be written."""
    name = f"icd-{sha256(chr(0).join(drivers).encode()).hexdigest()[:16]}"
    files = {f"{number}.icd": f"{driver}\n".encode() for number, driver in enumerate(drivers)}
    with suppress(OSError, Failed):
        return _filled(own_folder(own_folder(cache_home()) / name), files)
    with suppress(OSError):
        folder = private_folder() / name
        folder.mkdir(exist_ok=True)
        return _filled(folder, files)
    return None


def _filled(folder: Path, files: Mapping[str, bytes]) -> str:
    """The folder, after writing these drivers into it. Raises OSError."""
    for name, data in files.items():
        # a full disk may have left an incomplete file
        if read_own(folder / name) != data:
            replace_own(folder / name, data)
    for path in folder.glob("*.icd"):
        if path.name not in files:
            path.unlink()
    return str(folder)
