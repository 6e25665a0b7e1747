"""mdh's kernels on the GPU, bound to several sets of arrays."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mdh.device.arguments import scalar_value
from mdh.device.cuda import ALIGNED
from mdh.device.cuda_driver import Launch, driver, must
from mdh.target.text import BufferArg, EntryPoint
from scripts.bench_gpu.clock import Call, Made
from scripts.bench_gpu.gpu import PLACE, Tensors, torch
from scripts.bench_gpu.kernels import Kernels


def prepare(
    device: Any, kernels: Kernels, sets: Sequence[Tensors], scalars: Mapping[str, float], stream: int
) -> Made:
    """Workspaces are the same for all sets, as those of calls one after another are. Those that begin as
    zeros lie in front, together, as in `mdh.device.cuda`."""
    built = device.load(kernels.text, kernels.image)
    starts: dict[str, int] = {}
    end = zeros = 0
    for w in sorted(kernels.text.workspaces, key=lambda w: not w.zero):
        starts[w.name] = end
        end += -(-w.bytes // ALIGNED) * ALIGNED
        zeros = end if w.zero else zeros
    memory = torch.empty(max(1, end), dtype=torch.uint8, device=PLACE)

    def bound(t: Tensors) -> Call:
        pointers = {n: x.data_ptr() for n, x in t.items()}
        pointers |= {n: memory.data_ptr() + at for n, at in starts.items()}
        launches = [_launch(built.module, e, pointers, scalars) for e in kernels.text.kernels]

        def call() -> None:
            if zeros:
                _zero(memory, zeros, stream)
            for launch in launches:
                launch.enqueue(stream)

        return call

    return Made([bound(t) for t in sets], note=kernels.resources)


def _launch(
    module: Any, entry: EntryPoint, pointers: Mapping[str, int], scalars: Mapping[str, float]
) -> Launch:
    arguments: list[Any] = []
    for arg in entry.args:
        if isinstance(arg, BufferArg):
            arguments.append(ctypes.c_void_p(pointers[arg.name]))
        else:
            value = scalar_value(scalars[arg.name], arg.dtype)
            arguments.append(np.ctypeslib.as_ctypes_type(value.dtype)(value.item()))
    launch = entry.launch
    return Launch(module, entry.name, launch.grid, launch.block, entry.dynamic_shared, arguments)


def _zero(space: Any, size: int, stream: int) -> None:
    must(
        driver().cuMemsetD8Async(
            ctypes.c_uint64(space.data_ptr()), ctypes.c_ubyte(0), ctypes.c_size_t(size),
            ctypes.c_void_p(stream),
        )
    )  # fmt: skip
