"""GPU memory that mirrors host memory, guard bands included."""

import ctypes
from typing import Any

import numpy as np

from mdh.device.arrays import StridedView


class CudaTwin:
    """Device memory of the size of `memory`, a flat array of bytes that `array` is a part of."""

    def __init__(
        self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], held: Any, handle: Any
    ) -> None:
        self.memory, self.array, self.held, self.handle = memory, array, held, handle

    def send(self) -> None:
        """Copies from host to device."""
        with self.handle:
            self.held.copy_from_host(ctypes.c_void_p(self.memory.ctypes.data), self.memory.nbytes)

    def fetch(self) -> None:
        """Copies from device to host, after all earlier kernels."""
        with self.handle:
            self.held.copy_to_host(ctypes.c_void_p(self.memory.ctypes.data), self.memory.nbytes)

    @property
    def argument(self) -> StridedView:
        """The array's counterpart in device memory."""
        array = self.array
        offset = array.ctypes.data - self.memory.ctypes.data
        pointer, place = self.held.ptr + offset, f"cuda:{self.handle.id}"
        return StridedView(pointer, array.shape, array.dtype, array.strides, False, place, self.held)
