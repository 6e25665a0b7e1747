"""Arguments for a Program: small integers whose sums are exact, or random values; index arrays in range."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mdh.ir.program import Program
from mdh.reference.numbers import numpy_dtype

Arrays = dict[str, NDArray[Any]]


def random_arrays(
    program: Program, seed: int, kind: Literal["exact", "random"], below: Mapping[str, int]
) -> Arrays:
    """One array a parameter, outputs included (they may be read). `below` bounds the index arrays."""
    rng = np.random.default_rng(seed)
    out: Arrays = {}
    for b in program.buffers:
        if b.temp:
            continue
        dtype = numpy_dtype(b.dtype)
        if b.name in below:
            values = rng.integers(0, below[b.name], b.shape)
        elif not b.dtype.is_float or kind == "exact":
            values = rng.integers(0 if b.dtype.kind == "uint" else -3, 4, b.shape)
        else:
            values = rng.uniform(-1.0, 1.0, b.shape)
        out[b.name] = np.ascontiguousarray(values.astype(dtype))
    return out
