"""A candidate on the GPU: its results first, its time if they are right."""

from typing import Any

from scripts.bench_gpu import arrays, ours
from scripts.bench_gpu.cases import Case
from scripts.bench_gpu.clock import quick
from scripts.bench_gpu.gpu import Tensors, torch
from scripts.bench_gpu.kernels import Kernels
from scripts.fit_default.build import Code
from scripts.fit_default.files import short


def timed(device: Any, stream: int, case: Case, tensors: Tensors, right: Tensors, code: Code) -> float | str:
    """Seconds of a call, or what is wrong."""
    for name in right:
        arrays.fresh(case, tensors[name])
    call = ours.prepare(device, Kernels(code.text, code.image, ""), [tensors], {}, stream).calls[0]
    call()
    torch.cuda.synchronize()
    said = arrays.judged(case, tensors, right)
    return short(quick([call])) if said == "right" else said
