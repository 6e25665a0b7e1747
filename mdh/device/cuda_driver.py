"""The few functions of the CUDA driver that loading and launching a cubin need, through ctypes.

cupy owns contexts, memory, streams and events; its own launches cost more and know no function attributes.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any
from weakref import finalize

_MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""
OUT_OF_MEMORY = 2


class DriverError(Exception):
    """A driver call failed; name as in the driver's header (`CUDA_ERROR_ILLEGAL_ADDRESS`)."""

    def __init__(self, status: int, name: str) -> None:
        super().__init__(name)
        self.status, self.name = status, name


@cache
def driver() -> ctypes.CDLL:
    """Raises OSError where there is no driver."""
    return ctypes.CDLL("libcuda.so.1")


def must(status: int) -> None:
    if status:
        name = ctypes.c_char_p()
        driver().cuGetErrorName(status, ctypes.byref(name))
        raise DriverError(status, (name.value or b"unknown error").decode())


def driver_version() -> str:
    """`13.0`: the newest CUDA that the driver serves."""
    number = ctypes.c_int()
    must(driver().cuDriverGetVersion(ctypes.byref(number)))
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def fill(pointer: int, byte: int, size: int, stream: int) -> None:
    """Set `size` bytes of the device's memory, in the stream's order."""
    where, count = ctypes.c_uint64(pointer), ctypes.c_size_t(size)
    must(driver().cuMemsetD8Async(where, ctypes.c_ubyte(byte), count, ctypes.c_void_p(stream)))


class Module:
    """A loaded cubin; unloaded when it is collected."""

    def __init__(self, image: bytes) -> None:
        self._handle = ctypes.c_void_p()
        must(driver().cuModuleLoadData(ctypes.byref(self._handle), image))
        # at exit the context may be gone already, and there is nobody left to tell
        finalize(self, driver().cuModuleUnload, self._handle).atexit = False

    def function(self, name: str, dynamic_shared: int) -> ctypes.c_void_p:
        """A kernel that may be launched with `dynamic_shared` bytes (beyond 48 KiB it must be asked for)."""
        out = ctypes.c_void_p()
        must(driver().cuModuleGetFunction(ctypes.byref(out), self._handle, name.encode()))
        if dynamic_shared > 48 << 10:
            must(driver().cuFuncSetAttribute(out, _MAX_DYNAMIC_SHARED, dynamic_shared))
        return out


class Launch:
    """A kernel with its arguments packed once; its module stays loaded as long as it may be launched."""

    def __init__(
        self, module: Module, name: str, grid: Sequence[int], block: Sequence[int], shared: int,
        arguments: Sequence[Any],
    ) -> None:  # fmt: skip
        self.name = name
        self._function = module.function(name, shared)
        # without it the module would be unloaded once its builder is forgotten
        self._module = module
        self._kept = list(arguments)
        pointers = [ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in self._kept]
        self._parameters = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        self._shape = (*map(ctypes.c_uint, (*grid, *block, shared)),)

    def enqueue(self, stream: int) -> None:
        status = driver().cuLaunchKernel(
            self._function, *self._shape, ctypes.c_void_p(stream), self._parameters, None
        )
        must(status)
