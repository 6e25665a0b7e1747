"""CUDA as a person would have a script write it: constants unrolled, one thread a point (M. Giles, "CUDA code
generation"). Programs without constants have none."""

from collections.abc import Sequence

import numpy as np

from bench.cases import constants_of
from bench.gpu.cases import Case
from bench.gpu.clock import Made
from bench.gpu.gpu import Tensors, cupy
from mdh.compare.calling import Call

_THREADS = 128


def prepare(case: Case, sets: Sequence[Tensors]) -> Made | None:
    if not case.program.startswith("giles"):
        return None
    size, rows = case.sizes["N"], case.program == "giles_rows"
    kernel = cupy.RawKernel(text(constants_of(case)["C"], size, rows=rows), "by_hand")
    stream = cupy.cuda.get_current_stream

    def bound(t: Tensors) -> Call:
        arguments = tuple(cupy.asarray(t[name]) for name in "ABO")
        return lambda: kernel((-(-size // _THREADS),), (_THREADS,), arguments, stream=stream())

    return Made([bound(t) for t in sets])


def text(c: np.ndarray, size: int, *, rows: bool) -> str:
    """Everything in registers; each product of two inputs once; a multiply-add for each number that is not
    zero."""
    d = len(c)

    def place(array: str, k: int) -> str:
        return f"{array}[n * {d} + {k}]" if rows else f"{array}[n + {k} * {size}]"

    lines = [
        f'extern "C" __global__ void __launch_bounds__({_THREADS})',
        "by_hand(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ O) {",
        f"const int n = blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (n >= {size}) return;",
        *(f"const float a{k} = {place('A', k)}, b{k} = {place('B', k)};" for k in range(d)),
        *(f"float o{k} = 0.0f;" for k in range(d)),
        "float p;",
    ]
    for k in range(d):
        for m in range(d):
            terms = [(j, c[j, k, m]) for j in range(d) if c[j, k, m]]
            lines += [f"p = a{k} * b{m};"] if terms else []
            lines += [f"o{j} += {float(x)!r}f * p;" for j, x in terms]
    lines += [f"{place('O', k)} = o{k};" for k in range(d)]
    return "\n".join([*lines, "}", ""])
