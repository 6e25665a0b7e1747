"""Shared libraries of kernels. They are loaded from bytes, and unloaded when nobody holds one of their
functions."""

import ctypes
import os
from _ctypes import dlclose
from contextlib import suppress
from itertools import count
from weakref import finalize

from mdh.folders import private_folder

FILE = "kernels.so"
"""The end of the name of each library's file."""
_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
"""OpenMP's libraries, whose threads live on after the library that loaded them is unloaded."""
_STAY = os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_NODELETE
_numbers = count()


def loaded(image: bytes) -> ctypes.CDLL:
    """Loads a library. It stays loaded while this object or a function of it is held. Raises OSError, without
    a number if the loader refuses it."""
    # the loader takes a library for a loaded one of the same name, so each gets its own
    path = private_folder() / f"{next(_numbers)}-{FILE}"
    try:
        path.write_bytes(image)
        library = ctypes.CDLL(str(path))
    finally:
        # the file may be removed once it is loaded
        path.unlink(missing_ok=True)
    for name in _RUNTIMES:
        # finds the runtime only if this library has loaded one
        with suppress(OSError):
            ctypes.CDLL(name, mode=_STAY)
    # not at the end of the process, when threads may still be at work
    finalize(library, dlclose, library._handle).atexit = False
    return library
