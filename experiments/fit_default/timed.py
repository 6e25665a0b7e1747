"""A candidate on the GPU: its results first, its time if they are right."""

from typing import Any

from bench.gpu import arrays, ours
from bench.gpu.cases import Case
from bench.gpu.clock import quick
from bench.gpu.gpu import Tensors, torch
from bench.gpu.kernels import Kernels
from experiments.fit_default.build import Code
from experiments.fit_default.files import short


def timed(device: Any, stream: int, case: Case, tensors: Tensors, right: Tensors, code: Code) -> float | str:
    """Seconds of a call, or what is wrong."""
    for name in right:
        arrays.fresh(case, tensors[name])
    call = ours.prepare(device, Kernels(code.text, code.image, ""), [tensors], {}, stream).calls[0]
    call()
    torch.cuda.synchronize()
    said = arrays.judged(case, tensors, right)
    return short(quick([call])) if said == "right" else said
