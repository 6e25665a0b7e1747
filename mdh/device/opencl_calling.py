"""Prepared launches of kernels, and launches that run inside the call without Python's lock.

PoCL's `basic` device runs a kernel while it is enqueued. pyopencl keeps the interpreter's lock in that call,
so all other Python threads would stop; ctypes releases it. Any OpenCL loader passes the call to the runtime
that made the queue.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from mdh.device.opencl_door import cl

_MAPS = Path("/proc/self/maps")
Sizes = tuple[int, ...]
Enqueue = Callable[[Any, bool], Any]
"""Enqueues a kernel. Returns pyopencl's event if it is to be timed."""


class RefusedError(Exception):
    """The runtime refuses a launch. code: as in pyopencl's errors."""

    def __init__(self, code: int) -> None:
        super().__init__(f"clEnqueueNDRangeKernel: status {code}")
        self.code = code


@cache
def loader() -> Any:
    """clEnqueueNDRangeKernel of a loader in this process; None if there is none."""
    try:
        lines = _MAPS.read_text(encoding="utf-8").splitlines()
        # five columns, then the file, whose name may hold spaces
        loaded = (line.split(maxsplit=5)[-1] for line in lines)
        path = next((p for p in loaded if Path(p).name.startswith("libOpenCL")), None)
        function = None if path is None else ctypes.CDLL(path).clEnqueueNDRangeKernel
    except (OSError, AttributeError):
        return None
    if function is not None:
        sizes = ctypes.POINTER(ctypes.c_size_t)
        function.restype = ctypes.c_int32
        function.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, sizes, sizes, sizes, ctypes.c_uint32,
            ctypes.c_void_p, ctypes.c_void_p,
        ]  # fmt: skip
    return function


def launch_within(kernel: Any, grid: Sizes, block: Sizes) -> Enqueue:
    """A launch that has ended when its call returns. It raises RefusedError."""
    function, sizes, address = loader(), ctypes.c_size_t * len(grid), kernel.int_ptr
    dims, items, group, nothing = len(grid), sizes(*grid), sizes(*block), None

    def enqueue(queue: Any, timed: bool) -> Any:
        event = ctypes.c_void_p() if timed else None
        told = ctypes.byref(event) if event is not None else nothing
        status = function(queue.int_ptr, address, dims, nothing, items, group, 0, nothing, told)
        if status:
            raise RefusedError(status)
        return None if event is None else cl.Event.from_int_ptr(event.value, retain=False)

    return enqueue


def launch(kernel: Any, grid: Sizes, block: Sizes) -> Enqueue:
    """A launch by pyopencl."""
    return lambda queue, timed: cl.enqueue_nd_range_kernel(queue, kernel, grid, block)
