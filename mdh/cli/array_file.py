"""`.npy` files of users: nothing in them runs, and no memory is taken for what they only claim to hold."""

import os
import stat
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mdh.textfile import reason

Array = np.ndarray[Any, Any]
_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK"


class NoArrayError(ValueError):
    """A file that gives no array; the text says why: `is an .npz archive`."""


def read_array(path: str, demand: Callable[[np.dtype[Any], tuple[int, ...]], None]) -> Array:
    """The array of a file. demand: raises where its type or shape is not wanted; it is asked before memory is
    taken, and what it raises goes through. Raises NoArrayError."""
    _demand_magic(path)
    # mapping takes no memory, and fails where the file is shorter than its head claims
    mapped = _loaded(path, "r")
    demand(mapped.dtype, mapped.shape)
    try:
        array = _loaded(path, None)
    except MemoryError:
        raise NoArrayError("is larger than the memory that is free") from None
    # it may have been replaced meanwhile
    demand(array.dtype, array.shape)
    return array


def _demand_magic(path: str) -> None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise NoArrayError("is not a regular file")
        with open(path, "rb") as file:
            start = file.read(len(_MAGIC))
    except FileNotFoundError:
        raise NoArrayError("is not there") from None
    except OSError as error:
        raise NoArrayError(f"cannot be read: {reason(error)}") from None
    if start.startswith(_ARCHIVE):
        raise NoArrayError("is an .npz archive")
    if start != _MAGIC:
        raise NoArrayError("is not a .npy file")


def _loaded(path: str, mode: Any) -> Array:
    """Raises NoArrayError; MemoryError where the elements are read, by mode None."""
    try:
        with warnings.catch_warnings():
            # about heads that an old Python wrote
            warnings.simplefilter("ignore")
            found: Array = np.load(path, mmap_mode=mode, allow_pickle=False)
            return found
    except OSError as error:
        raise NoArrayError(f"cannot be read: {reason(error)}") from None
    except Exception as error:  # a head is a text of Python's, and its reader raises whatever that meets
        if mode is None and isinstance(error, MemoryError):
            raise
        raise NoArrayError("has a damaged head, holds objects, or ends too early") from None
