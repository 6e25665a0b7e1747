"""Arguments for a random program: small integers, so that sums of floats are exact; now and then reals."""

from math import prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.frontend.ctypes_of import NAMED
from mdh.ir.dtype import I8, I16, I32, I64, U8, U32, DType
from mdh.ir.program import Program
from mdh.reference.numbers import numpy_dtype
from tests.soundness.tree import Param, Tree, number

Flat = dict[str, NDArray[Any]]
"""Elements one after another, one array a parameter."""
_SHORT = {"int": I32, "unsigned": U32, "short": I16, "long": I64, "unsigned char": U8, "signed char": I8}


def dtype_of(ctype: str) -> DType:
    return _SHORT.get(ctype) or NAMED[ctype]


def elements(p: Param, sizes: dict[str, int]) -> int:
    """How many elements the caller has to give; of a plain pointer, rows of up to 3 more are allowed for."""
    extents = [product_of(e, sizes) for e in p.extents]
    if p.flat and len(extents) == 2:
        extents[1] += 3
    return prod(extents)


def product_of(text: str, sizes: dict[str, int]) -> int:
    """`N`, `N + M`, `2 * N`."""
    if "*" in text:
        left, right = text.split("*")
        return number(left, sizes) * number(right, sizes)
    return number(text, sizes)


def arguments_of(tree: Tree, seed: int, *, whole: bool = True) -> Flat:
    """One array a parameter. whole: floats are small integers."""
    rng = np.random.default_rng(seed)
    out: Flat = {}
    for name, p in tree.params.items():
        if not p.extents:
            continue
        count, dtype = elements(p, tree.sizes), dtype_of(p.ctype)
        limit = tree.limit_of(name)
        if limit is not None:
            values: NDArray[Any] = rng.integers(limit[0], limit[1] + 1, count)
        elif dtype.is_float and not whole:
            values = rng.uniform(-2.0, 2.0, count)
        else:
            values = rng.integers(0 if dtype.kind == "uint" else -3, 4, count)
        out[name] = values.astype(numpy_dtype(dtype))
    return out


def whole_of(tree: Tree) -> bool:
    """Most programs get integers."""
    return Random(tree.name).random() < 0.85


def shaped(program: Program, flat: Flat) -> dict[str, NDArray[Any]]:
    """The same values in the shapes that mdh has found; what lies behind a plain pointer is cut or zero."""
    out = {}
    for b in program.buffers:
        if not b.temp:
            given, count = flat[b.name], prod(b.shape)
            room = np.zeros(count, given.dtype)
            room[: min(count, given.size)] = given[:count]
            out[b.name] = room.reshape(b.shape)
    return out
