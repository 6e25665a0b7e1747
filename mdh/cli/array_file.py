"""Reads users' `.npy` files. No code in them runs, and memory is taken only for elements that are there."""

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
    """A file without an array. The text says why: `is an .npz archive`."""


def read_array(path: str, demand: Callable[[np.dtype[Any], tuple[int, ...]], None]) -> Array:
    """The array of a file. demand: raises if the type or shape is not wanted. It is called before memory is
    taken, and its errors pass through. Raises NoArrayError."""
    _demand_magic(path)
    # mapping takes no memory, and fails if the file is shorter than its header says
    mapped = _loaded(path, "r")
    demand(mapped.dtype, mapped.shape)
    _demand_end(path, mapped)
    try:
        array = _loaded(path, None)
    except MemoryError:
        raise NoArrayError("is larger than the memory that is free") from None
    # it may have been replaced meanwhile
    demand(array.dtype, array.shape)
    return array


def _demand_magic(path: str) -> None:
    if "\0" in path:
        # a project file can spell it
        raise NoArrayError("is no name of a file")
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


def _demand_end(path: str, mapped: Array) -> None:
    """Raises NoArrayError if the file goes on behind the elements, so that its head may be wrong."""
    if isinstance(mapped, np.memmap):
        more = os.path.getsize(path) - mapped.offset - mapped.nbytes
        if more > 0:
            raise NoArrayError(f"is damaged: {more:,} bytes follow the elements that its head tells of")


def _loaded(path: str, mode: Any) -> Array:
    """Loads a file. Raises NoArrayError, or MemoryError if `mode` is None and the elements are read."""
    try:
        with warnings.catch_warnings():
            # these are about headers that an old Python wrote
            warnings.simplefilter("ignore")
            found: Array = np.load(path, mmap_mode=mode, allow_pickle=False)
            return found
    except OSError as error:
        raise NoArrayError(f"cannot be read: {reason(error)}") from None
    except Exception as error:  # a header is a Python literal, and its reader may raise anything
        if mode is None and isinstance(error, MemoryError):
            raise
        raise NoArrayError("has a damaged head, holds objects, or ends too early") from None
