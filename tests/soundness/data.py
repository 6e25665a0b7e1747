"""Arguments for a random program: small integers, so that sums of floats are exact; now and then others."""

from math import prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.frontend.c.ctypes_of import NAMED
from mdh.ir.dtype import I8, I16, I32, I64, U8, U16, U32, U64, DType
from mdh.ir.program import Program
from mdh.reference.numbers import numpy_dtype
from tests.soundness.tree import Param, Tree, number

Flat = dict[str, NDArray[Any]]
"""Elements one after another, one array a parameter."""
_SHORT = {
    "int": I32, "unsigned": U32, "short": I16, "long": I64, "unsigned char": U8, "signed char": I8,
    "unsigned short": U16, "unsigned long": U64,
}  # fmt: skip


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
    """One array a parameter. whole: floats are small integers. Some programs without floats get wide ones."""
    rng = np.random.default_rng(seed)
    out: Flat = {}
    wide = wide_of(tree)
    for name, p in tree.params.items():
        if not p.extents:
            continue
        count, dtype = elements(p, tree.sizes), dtype_of(p.ctype)
        limit = tree.limit_of(name)
        if limit is not None:
            values: NDArray[Any] = rng.integers(limit[0], limit[1] + 1, count)
        elif tree.data == "edges":
            values = _edges(dtype, count, rng)
        elif dtype.is_float and not whole:
            near = rng.choice([0.0, 0.5, -0.5, 1.0], count)
            values = np.where(rng.random(count) < 0.3, near, rng.uniform(-2.0, 2.0, count))
        elif wide:
            values = _powers(dtype, count, rng)
        else:
            values = rng.integers(0 if dtype.kind == "uint" else -3, 4, count)
        out[name] = values.astype(numpy_dtype(dtype))
    return out


def _edges(dtype: DType, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Ends of the type's range, numbers around 0, and random ones of any size."""
    kind = numpy_dtype(dtype)
    if dtype.is_float:
        known = [0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e6, -2.5e9, 1e-3, 0.1, 1e-30, np.inf, -np.inf, np.nan]
        values = rng.normal(0, 10.0 ** rng.integers(-3, 9, count).astype(float), count).astype(kind)
        chosen = rng.random(count) < 0.5
        return np.where(chosen, rng.choice(np.array(known, kind), count), values)
    info = np.iinfo(kind)
    ends = np.array([info.min, info.max, info.max - 1, 0, 1, 2, 100], kind)
    near = rng.integers(0, 100, count).astype(kind) - (kind.type(50) if dtype.kind == "int" else kind.type(0))
    wide = rng.integers(info.min, info.max, count, dtype=kind, endpoint=True)
    which = rng.integers(0, 3, count)
    return np.choose(which, [rng.choice(ends, count), near, wide]).astype(kind)


def whole_of(tree: Tree) -> bool:
    """Most programs get integers."""
    return tree.data == "small" and Random(tree.name).random() < 0.85


def wide_of(tree: Tree) -> bool:
    """Some programs of integers alone get powers of two and their neighbours: conversions show."""
    floats = any(dtype_of(p.ctype).is_float for p in tree.params.values())
    return tree.data == "small" and not floats and Random(tree.name + "wide").random() < 0.4


def _powers(dtype: DType, count: int, rng: np.random.Generator) -> NDArray[Any]:
    powers = np.left_shift(1, rng.integers(0, min(dtype.bits, 63), count))
    return (powers + rng.choice([-1, 0, 0, 0, 0, 1], count)) * rng.choice([-1, 1, 1], count)


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
