"""Imports pyopencl as `cl`, with the environment that it reads when it is imported. Other modules import it
from here."""

import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mdh.device.cuda_cache import keep_driver_safe
from mdh.device.opencl_vendors import vendors
from mdh.diagnostics import Failed, fail

PAIR = "pthread basic"
"""PoCL of the wheel as two devices on the same cores: one whose threads share the groups of a launch, and one
that runs a launch in the calling thread and so wakes no other."""


def _prepare_environment() -> None:
    # pyopencl's caches are pickles, which could run code that somebody wrote into them, and the key of its
    # binaries lacks the runtime's version. So mdh does not read them, whatever the environment says.
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
    # build logs are shown in the message of a refused kernel
    warnings.filterwarnings("ignore", category=library.CompilerWarning)
    return library


cl: Any = _load()


def missing(reason: str) -> Failed:
    """D102, with what to install."""
    return fail(
        "D102",
        f"OpenCL cannot be used here: {reason}",
        help="pip install pyopencl pocl-binary-distribution (x86-64 Linux), or your vendor's OpenCL driver",
    )
