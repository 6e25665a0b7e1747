"""A GPU kept busy while the host prepares what is timed: the time between two events is the kernels' own.

An event before a kernel that the host has yet to launch is passed at once: the launch itself would count, and
with it all that a library does on the host before it, many microseconds where the kernel takes few.
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
    """On the current device's current stream, from now on for so long."""
    _kernel(cupy, int(cupy.cuda.runtime.getDevice()))((1,), (1,), (cupy.uint64(seconds * 1e9),))


@cache
def _kernel(cupy: Any, device: int) -> Any:
    return cupy.RawKernel(_TEXT, "busy")
