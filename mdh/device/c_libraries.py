"""Shared libraries of kernels: loaded from bytes, and unloaded when nobody holds a function of theirs."""

import ctypes
import os
from _ctypes import dlclose
from contextlib import suppress
from itertools import count
from weakref import finalize

from mdh.folders import private_folder

FILE = "kernels.so"
"""How the name of each library's file ends."""
_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
"""OpenMP's, whose threads live on when the library that brought it is gone."""
_STAY = os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_NODELETE
_numbers = count()


def loaded(image: bytes) -> ctypes.CDLL:
    """The library stays as long as this object or a function taken from it is held. Raises OSError;
    without a number where the loader refuses it."""
    # the loader takes a library for one that it has if the name is the same, so each has another
    path = private_folder() / f"{next(_numbers)}-{FILE}"
    try:
        path.write_bytes(image)
        library = ctypes.CDLL(str(path))
    finally:
        # once it is loaded the file may go
        path.unlink(missing_ok=True)
    for name in _RUNTIMES:
        # only one that this library has brought is there
        with suppress(OSError):
            ctypes.CDLL(name, mode=_STAY)
    # not at the end of the process, when threads may still be at work
    finalize(library, dlclose, library._handle).atexit = False
    return library
