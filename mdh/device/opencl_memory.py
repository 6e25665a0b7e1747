"""Memory of an OpenCL device that mirrors host memory, guard bands included."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mdh.device.opencl_door import cl
from mdh.device.opencl_errors import no_memory


@dataclass(frozen=True, slots=True)
class BufferRegion:
    """The place of one array in a larger buffer, which also gets what a kernel stores outside of it."""

    buffer: Any
    around: Any


class OpenclTwin:
    """A buffer of the device for `memory`, a flat array of bytes, from `shift` on. The shift lets `array`, a
    part of that memory, begin where the device allows a sub-buffer to begin."""

    def __init__(self, device: Any, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
        self.queue, self.memory = device.main.queue, memory
        offset = array.ctypes.data - memory.ctypes.data
        # in bits, as the standard has it
        align = max(1, int(device.found.device.mem_base_addr_align) // 8)
        self.shift = -offset % align
        size = self.shift + memory.nbytes
        try:
            self.held = cl.Buffer(device.main.context, cl.mem_flags.READ_WRITE, size)
            part = self.held.get_sub_region(self.shift + offset, max(array.nbytes, 1))
        except cl.Error as error:
            raise no_memory(device.title, "arrays and their guard bands", size, error) from error
        self.region = BufferRegion(part, self.held)

    def send(self) -> None:
        """Copies from host to device."""
        cl.enqueue_copy(self.queue, self.held, self.memory, dst_offset=self.shift)

    def fetch(self) -> None:
        """Copies from device to host, after all earlier kernels."""
        cl.enqueue_copy(self.queue, self.memory, self.held, src_offset=self.shift)

    @property
    def argument(self) -> BufferRegion:
        """What a call takes instead of the array."""
        return self.region
