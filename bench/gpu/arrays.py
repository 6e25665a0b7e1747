"""Random arrays of a case on the GPU, as many sets of them as exceed its caches, and what is right."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from bench.cases import arrays_of, constants_of, written
from bench.gpu import by_torch
from bench.gpu.cases import TF32, Case
from bench.gpu.gpu import PLACE, Tensors, torch
from bench.gpu.work import rotated_bytes
from mdh.ir.program import Program

_TYPES = {
    "f32": torch.float32, "f64": torch.float64, "i32": torch.int32,
    "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
    "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
}  # fmt: skip
EIGHTHS, COARSE = ("matmul_fp8", "matmul_fp8_bf16"), 0.05
"""Programs whose sums tensor cores keep with 13 bits, and what this may cost."""
_CACHES = 2.5
"""Multiples of the L2 cache that all sets together take."""
_MOST = 1200
_ROUNDED = 2.0**-9
"""Of the largest result: eight times what rounding the factors of random sums to tf32 makes."""


def set_count(case: Case, program: Program, cache: int) -> int:
    return min(_MOST, max(2, ceil(_CACHES * cache / rotated_bytes(case, program))))


def random_sets(case: Case, program: Program, count: int) -> list[Tensors]:
    """Inputs random, outputs as before the first call."""
    rng = torch.Generator(device=PLACE).manual_seed(1)
    shared: Tensors = {n: torch.from_numpy(a).to(PLACE) for n, a in constants_of(case).items()}
    out = list[Tensors]()
    for _ in range(count):
        tensors = dict(shared)
        for name in arrays_of(program):
            if name in tensors:
                continue
            tensors[name] = _array(case, program, name, rng)
            if name in case.shared:
                shared[name] = tensors[name]
        out.append(tensors)
    return out


def _array(case: Case, program: Program, name: str, rng: Any) -> Any:
    buffer = program.buffer_of[name]
    out = torch.empty(buffer.shape, dtype=_TYPES[buffer.dtype.name], device=PLACE)
    if name in written(program) and not case.scalars:
        return fresh(case, out)
    if name in case.below:
        return out.random_(0, case.below[name], generator=rng)
    if out.element_size() == 1:
        # torch draws no 8-bit floats
        drawn = torch.empty(buffer.shape, dtype=torch.float32, device=PLACE)
        return out.copy_(drawn.uniform_(-1.0 if case.signed else 0.0, 1.0, generator=rng))
    return out.uniform_(-1.0 if case.signed else 0.0, 1.0, generator=rng)


def fresh(case: Case, output: Any) -> Any:
    """Zeros where the program adds to them, else what no right result is."""
    if case.adds:
        return output.zero_()
    return output.fill_(float("nan") if output.is_floating_point() else -(2**31))


def expected(case: Case, program: Program, tensors: Tensors) -> Tensors:
    """The outputs on doubles, by torch."""
    wide = {k: v.double() if v.is_floating_point() else v.clone() for k, v in tensors.items()}
    outputs = written(program)
    if not case.adds:
        for name in outputs:
            wide[name].zero_()
    by_torch.compute(case, wide)
    return {name: wide[name] for name in outputs}


def judged(case: Case, found: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """Sums of n terms may be off by (4 sqrt n + 16) roundings, and by a part of the largest where factors are
    rounded to tf32 or 8-bit floats are added."""
    terms = max(2.0, case.flops or float(max(case.sizes.values())))
    count = min(terms, max(case.sizes.values()) * 64.0)
    for name in sorted(right):
        value, want = found[name], right[name]
        if not value.is_floating_point():
            if not torch.equal(value, want.to(value.dtype)):
                return f"wrong {name}: {int((value != want).sum())} of {value.numel()} differ"
            continue
        limit = torch.finfo(value.dtype).eps * (4 * count**0.5 + 16) * float(want.abs().max())
        if case.program in EIGHTHS:
            limit += COARSE * float(want.abs().max())
        if case.program in TF32:
            limit += _ROUNDED * float(want.abs().max())
        error = float((value.double() - want).abs().max())
        if not error <= limit:
            return f"wrong {name}: off by {error:.2g}, {limit:.2g} allowed"
    return "right"
