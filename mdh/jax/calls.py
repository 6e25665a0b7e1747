"""The calls that XLA makes: which kernel a number stands for, and the arrays at the addresses of a call."""

import atexit
import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from mdh.api.kernel import Kernel
from mdh.device.arrays import packed_strides
from mdh.device.cache import key_of
from mdh.diagnostics import Failed, render_text
from mdh.jax.handler import CALLBACK, handler

jax: Any = import_module("jax")
"""Imported as a value, because a type checker takes longer for its types than for all of mdh."""
TARGET = "mdh_call"
Launch = Callable[[str, dict[str, Any]], None]
"""Runs the kernel for arrays on a device (`cpu`, `cuda:0`), which it gets by name."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An argument or result of a call, without the dimensions that vmap adds in front."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class JaxCall:
    """arrays: arguments, then results."""

    arrays: tuple[ArrayType, ...]
    launch: Launch


_calls: dict[int, JaxCall] = {}


def numbered(identity: str, given: Sequence[ArrayType], made: Sequence[ArrayType], launch: Launch) -> int:
    """The number of a call. It stays known as long as this process lives: what XLA has compiled names it.

    XLA may keep what it compiled for later processes. So the number is a hash of all that decides what the
    call computes: it means the same there. identity: all but the types.
    """
    number = int(key_of(identity, repr((*given, *made)))[:15], 16)
    _calls[number] = JaxCall((*given, *made), launch)
    return number


def called(number: int, arguments: Sequence[Any]) -> list[Any]:
    """The results of a call for traced arguments."""
    _registered()
    made = _calls[number].arrays[len(arguments) :]
    types = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in made]
    # with this method vmap adds dimensions of 1 to arguments that it does not map, and copies nothing
    target = jax.ffi.ffi_call(TARGET, types, vmap_method="expand_dims")
    return list(target(*arguments, call=np.int64(number)))


@cache
def _registered() -> None:
    """Makes the handler known to XLA."""
    library = handler(jax.ffi.include_dir())
    library.mdh_jax_set.restype, library.mdh_jax_set.argtypes = None, (CALLBACK,)
    library.mdh_jax_set(_pointer)
    _libraries.append(library)
    # threads of XLA may outlive Python
    atexit.register(library.mdh_jax_set, CALLBACK(0))
    for platform in ("cpu", "cuda"):
        function = library[f"mdh_jax_{platform}"]
        known = "CUDA" if platform == "cuda" else platform
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(function), platform=known)


_libraries: list[ctypes.CDLL] = []
"""The handler stays loaded."""


def _callback(
    number: int, device: int, stream: int | None, total: int, data: Any, ranks: Any, dims: Any,
    message: int, room: int,
) -> int:  # fmt: skip
    """Runs a call. XLA raises what is wrong as an error with the message."""
    try:
        call = _calls[number]
        shapes = [tuple(dims[k][: ranks[k]]) for k in range(total)]
        _run(call, device, stream or 0, [data[k] or 0 for k in range(total)], shapes)
    except BaseException as error:
        said = "\n".join(map(render_text, error.diagnostics)) if isinstance(error, Failed) else repr(error)
        text = said.encode()[: room - 1] + b"\0"
        ctypes.memmove(message, text, len(text))
        return 1
    return 0


_pointer = CALLBACK(_callback)


def _run(
    call: JaxCall, device: int, stream: int, addresses: Sequence[int], shapes: Sequence[tuple[int, ...]]
) -> None:
    """One launch for each element of the dimensions that vmap has added."""
    where = "cpu" if device < 0 else f"cuda:{device}"
    added = [s[: len(s) - len(t.shape)] for s, t in zip(shapes, call.arrays, strict=True)]
    batch = np.broadcast_shapes(*added)
    each = [
        np.broadcast_to(np.arange(prod(a)).reshape(a), batch).reshape(-1) if batch else (0,) for a in added
    ]
    for k in range(prod(batch)):
        arrays = {
            t.name: _array(t, address + int(places[k]) * prod(t.shape) * t.dtype.itemsize, device, stream)
            for t, address, places in zip(call.arrays, addresses, each, strict=True)
        }
        call.launch(where, arrays)


def _array(t: ArrayType, address: int, device: int, stream: int) -> Any:
    """The memory at an address as an array, which is not kept alive."""
    if device >= 0:
        return DeviceArray(t, address, device, stream)
    block = (ctypes.c_char * (prod(t.shape) * t.dtype.itemsize)).from_address(address)
    return np.ndarray(t.shape, t.dtype, memoryview(block))


class DeviceArray:
    """Memory of a GPU as kernels take it, with the stream that XLA works on."""

    def __init__(self, t: ArrayType, address: int, device: int, stream: int) -> None:
        self.dtype, self.shape = t.dtype, t.shape
        self.device = Ordinal(device)
        self.__cuda_array_interface__ = {
            "version": 3, "shape": t.shape, "typestr": t.dtype.str, "data": (address, False),
            "strides": packed_strides(t.shape, t.dtype.itemsize), "stream": stream or 1,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ordinal:
    """The number of a GPU."""

    id: int


def launched(kernel: Kernel, values: dict[str, Any]) -> None:
    """Runs a kernel on arrays, numbers and sizes by name."""
    kernel(**{n: values[n] for n in kernel.parameters if n in values})
