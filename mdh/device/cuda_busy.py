"""Keeps a GPU busy while the host enqueues a timed call, so that the time between two events is the kernels'
own.

Without it, the first event is recorded before the host has launched the kernel. The launch itself would
count, and all that a library does on the host before it: many microseconds for a kernel of a few.
"""

from functools import cache
from typing import Any

_TEXT = r"""
extern "C" __global__ void busy(unsigned long long nanoseconds)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}
"""


def keep_busy(cupy: Any, seconds: float) -> None:
    """Keeps the current stream of the current device busy for `seconds`."""
    _kernel(cupy, int(cupy.cuda.runtime.getDevice()))((1,), (1,), (cupy.uint64(seconds * 1e9),))


@cache
def _kernel(cupy: Any, device: int) -> Any:
    return cupy.RawKernel(_TEXT, "busy")
