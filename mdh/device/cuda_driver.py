"""The functions of the CUDA driver that load and launch cubins, through ctypes.

cupy owns contexts, memory, streams and events. Its own launches take longer and do not set function
attributes.
"""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import finalize

_MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""
_PROGRAMMATIC_STREAM_SERIALIZATION = 6
"""CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION."""
_CAPTURES_EARLY = 12030
"""The first CUDA version whose graphs may hold such launches."""
_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED."""
OUT_OF_MEMORY = 2


class DriverError(Exception):
    """A driver call failed. name: as in the driver's header (`CUDA_ERROR_ILLEGAL_ADDRESS`)."""

    def __init__(self, status: int, name: str) -> None:
        super().__init__(name)
        self.status, self.name = status, name


@cache
def driver() -> ctypes.CDLL:
    """The driver's library. Raises OSError if there is none."""
    return ctypes.CDLL("libcuda.so.1")


def must(status: int) -> None:
    if status:
        name = ctypes.c_char_p()
        driver().cuGetErrorName(status, ctypes.byref(name))
        raise DriverError(status, (name.value or b"unknown error").decode())


def driver_version() -> str:
    """The newest CUDA version that the driver supports: `13.0`."""
    number = _version()
    return f"{number // 1000}.{number % 1000 // 10}"


@cache
def _version() -> int:
    number = ctypes.c_int()
    must(driver().cuDriverGetVersion(ctypes.byref(number)))
    return number.value


def fill(pointer: int, byte: int, size: int, stream: int) -> None:
    """Sets `size` bytes of device memory, in stream order."""
    where, count = ctypes.c_uint64(pointer), ctypes.c_size_t(size)
    must(driver().cuMemsetD8Async(where, ctypes.c_ubyte(byte), count, ctypes.c_void_p(stream)))


@contextmanager
def allocating() -> Iterator[None]:
    """Memory may be allocated in here also while a stream of this thread is captured into a graph: by itself
    the driver refuses that, since the allocation is no part of the graph."""
    mode = ctypes.c_int(_RELAXED)
    must(driver().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode)))
    try:
        yield
    finally:
        must(driver().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode)))


class LoadedCubin:
    """A loaded cubin; unloaded when it is collected."""

    def __init__(self, image: bytes) -> None:
        self._handle = ctypes.c_void_p()
        must(driver().cuModuleLoadData(ctypes.byref(self._handle), image))
        # at exit the context may be gone already, and errors do not matter then
        finalize(self, driver().cuModuleUnload, self._handle).atexit = False
        self._functions: dict[tuple[str, int], ctypes.c_void_p] = {}

    def function(self, name: str, dynamic_shared: int) -> ctypes.c_void_p:
        """A kernel that may be launched with `dynamic_shared` bytes; beyond 48 KiB this must be requested."""
        known = self._functions.get((name, dynamic_shared))
        return known or self._functions.setdefault((name, dynamic_shared), self._found(name, dynamic_shared))

    def _found(self, name: str, dynamic_shared: int) -> ctypes.c_void_p:
        out = ctypes.c_void_p()
        must(driver().cuModuleGetFunction(ctypes.byref(out), self._handle, name.encode()))
        if dynamic_shared > 48 << 10:
            must(driver().cuFuncSetAttribute(out, _MAX_DYNAMIC_SHARED, dynamic_shared))
        return out


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute; its value is a union of 64 bytes."""

    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_char * 4), ("value", ctypes.c_int * 16)]


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    ]


class PackedLaunch:
    """A kernel with its arguments packed once. Its module stays loaded while it may be launched."""

    def __init__(
        self, module: LoadedCubin, name: str, shape: Sequence[int], arguments: Sequence[Any], *, early: bool
    ) -> None:
        """shape: grid (x, y, z), block (x, y, z), and bytes of dynamic shared memory.

        early: launched before the preceding kernel has ended; the kernel waits for it itself.
        """
        self.name = name
        self._function = module.function(name, shape[6])
        # keeps the module loaded when its builder is gone
        self._module = module
        self._kept = list(arguments)
        self._parameters = (ctypes.c_void_p * max(1, len(self._kept)))(*map(ctypes.addressof, self._kept))
        self._shape = shape
        self._attributes = _Attribute(_PROGRAMMATIC_STREAM_SERIALIZATION, b"", (ctypes.c_int * 16)(1))
        self._early = early and _version() >= _CAPTURES_EARLY
        self._configs: dict[int, Any] = {}

    def enqueue(self, stream: int) -> None:
        # one for each stream, because several threads may launch at once
        config = self._configs.get(stream) or self._configs.setdefault(stream, self._config(stream))
        status = driver().cuLaunchKernelEx(config, self._function, self._parameters, None)
        if status:
            must(status)

    def _config(self, stream: int) -> Any:
        pointer = ctypes.pointer(self._attributes)
        return ctypes.byref(_Config(*self._shape, stream, pointer, int(self._early)))
