"""Builds an OpenCL text, runs its kernels, returns the arrays."""

from collections.abc import Callable

import numpy as np
import pyopencl as cl
import pytest

from mdh.target.text import BufferArg, KernelText

Arrays = dict[str, np.ndarray]
Run = Callable[..., Arrays]


def _platform(name: str) -> cl.Platform:
    found = [p for p in cl.get_platforms() if name in p.name]
    if not found:
        pytest.skip(f"no OpenCL platform {name}")
    return found[0]


def run_opencl(text: KernelText, values: dict[str, object], platform: str = "Portable") -> Arrays:
    """Runs all kernels once on copies of `values`; workspaces are zeroed or poisoned as the text asks."""
    context = cl.Context(_platform(platform).get_devices())
    queue = cl.CommandQueue(context)
    built = cl.Program(context, text.source).build(list(text.options))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    device = {k: cl.Buffer(context, flags, hostbuf=v) for k, v in arrays.items()}
    for w in text.workspaces:
        first = np.full(w.bytes, 0 if w.zero else 0x5A, np.uint8)
        device[w.name] = cl.Buffer(context, flags, hostbuf=first)
    for entry in text.kernels:
        args = [device[a.name] if isinstance(a, BufferArg) else values[a.name] for a in entry.args]
        size = tuple(g * b for g, b in zip(entry.launch.grid, entry.launch.block, strict=True))
        cl.Kernel(built, entry.name)(queue, size, entry.launch.block, *args)
    out = {k: np.empty_like(v) for k, v in arrays.items()}
    for k, v in out.items():
        cl.enqueue_copy(queue, v, device[k])
    queue.finish()
    return out
