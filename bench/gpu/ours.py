"""mdh's kernels on the GPU, bound to several sets of arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.gpu.clock import Made
from bench.gpu.gpu import PLACE, Tensors, torch
from bench.gpu.kernels import Kernels
from mdh.compare.calling import Call
from mdh.device.cuda_bound import bound_launch, lay_out
from mdh.device.cuda_driver import fill


def prepare(
    device: Any, kernels: Kernels, sets: Sequence[Tensors], scalars: Mapping[str, float], stream: int
) -> Made:
    """Workspaces are the same for all sets, as those of calls one after another are."""
    built = device.load(kernels.text, kernels.image)
    spaces = lay_out(kernels.text.workspaces)
    memory = torch.empty(max(1, spaces.bytes), dtype=torch.uint8, device=PLACE)

    def bound(t: Tensors) -> Call:
        pointers = {n: x.data_ptr() for n, x in t.items()}
        pointers |= {n: memory.data_ptr() + at for n, at in spaces.starts.items()}
        launches = [bound_launch(built.module, e, pointers, scalars) for e in kernels.text.kernels]

        def call() -> None:
            if spaces.zeroed:
                fill(memory.data_ptr(), 0, spaces.zeroed, stream)
            for launch in launches:
                launch.enqueue(stream)

        return call

    return Made([bound(t) for t in sets], note=kernels.resources)
