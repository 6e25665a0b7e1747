"""Arrays of a case: the same random ones in every process."""

from typing import Any

import numpy as np

from bench.cases import arrays_of, constants_of, written
from bench.cpu.cases import Case
from mdh.ir.program import Program

Arrays = dict[str, np.ndarray[Any, Any]]
_TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "i32": np.int32}


def random_arrays(case: Case, program: Program) -> Arrays:
    """Inputs: floats from 0 to 1, lest a sum cancels, whole numbers below the case's bounds. Outputs: 0."""
    rng = np.random.default_rng(1)
    outputs = written(program)
    # the C has constants in front
    out: Arrays = constants_of(case)
    for name in arrays_of(program):
        buffer = program.buffer_of[name]
        dtype = _TYPES[buffer.dtype.name]
        if name in outputs:
            out[name] = np.zeros(buffer.shape, dtype)
            out[name].fill(0)
        elif dtype is np.int32:
            out[name] = rng.integers(0, case.below[name], buffer.shape, dtype=dtype)
        else:
            out[name] = rng.random(buffer.shape, dtype=dtype)
    return out


def moved_bytes(case: Case, program: Program) -> tuple[int, int]:
    """(read, written) bytes, each array once."""
    outputs = written(program)
    sizes = {
        n: int(np.prod(program.buffer_of[n].shape)) * program.buffer_of[n].dtype.bytes
        for n in arrays_of(program)
    }
    stored = sum(b for n, b in sizes.items() if n in outputs)
    if case.touched is not None:
        return case.touched - stored, stored
    return sum(sizes.values()) - stored, stored
