"""The door of pyopencl: `cl` is the library, loaded with the environment that it reads when imported."""

import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mdh.device.cuda_cache import keep_driver_safe
from mdh.device.opencl_vendors import vendors
from mdh.diagnostics import Failed, fail

PAIR = "pthread basic"
"""The wheel's PoCL as two devices on the same cores: one whose threads share the groups of a launch, and one
that runs a launch in the calling thread and so has nobody to wake."""


def _prepare_environment() -> None:
    # pyopencl's caches are pickles, which may run whatever somebody wrote into them, and the key of its
    # binaries leaves out the runtime's version; whatever the user's environment says, mdh reads neither
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    if find_spec("pocl_binary_distribution") is not None:
        os.environ.setdefault("POCL_DEVICES", PAIR)
    keep_driver_safe()
    found = vendors()
    if found is not None:
        os.environ["OCL_ICD_VENDORS"] = found


def _load() -> Any:
    _prepare_environment()
    try:
        library = import_module("pyopencl")
    except ImportError:
        return None
    # build logs are read where they matter: in the message of a refused kernel
    warnings.filterwarnings("ignore", category=library.CompilerWarning)
    return library


cl: Any = _load()


def missing(reason: str) -> Failed:
    """D102: what to install."""
    return fail(
        "D102",
        f"OpenCL cannot be used here: {reason}",
        help="pip install pyopencl pocl-binary-distribution (x86-64 Linux), or your vendor's OpenCL driver",
    )
