"""Arguments to test a kernel with: numbers of several kinds, in memory with guard bands."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from mdh.ir.dtype import EIGHTHS
from mdh.ir.program import Buffer, DimKind, Program
from mdh.memory_left import demand_room
from mdh.reference.numbers import Array, numpy_dtype
from mdh.verify.index_data import draw_indices, index_arrays, index_limits

GUARD = 256
"""Bytes before and after each array. It is a multiple of every vector width, so that arrays stay aligned."""
_PATTERN = 0xCB
_DRAWN = 8
"""Bytes of a random number as it is drawn."""
_LARGEST, _EXACT_SUM = 3, 2**13
Kind = Literal["exact", "random", "sparse", "wide"]
"""exact: integers from -3 to 3, in 8-bit floats smaller ones if sums are long. random: floats from -1 to 1.
sparse: zeros with a few ones and halves. wide: numbers of every size that the type holds."""


@dataclass(frozen=True)
class Guarded:
    """An array between two guard bands."""

    array: Array
    memory: Array

    @property
    def intact(self) -> bool:
        start = self.array.ctypes.data - self.memory.ctypes.data
        end = start + self.array.nbytes
        return bool((self.memory[:start] == _PATTERN).all() and (self.memory[end:] == _PATTERN).all())


def guarded(array: Array) -> Guarded:
    """A copy of `array` at an aligned address with a guard band on both sides. Raises Failed D104 if memory
    is short."""
    demand_room("a copy of an array", array.nbytes)
    memory = np.full(array.nbytes + 3 * GUARD, _PATTERN, np.uint8)
    start = GUARD + -memory.ctypes.data % GUARD
    place = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    place[...] = array
    return Guarded(place, memory)


def make_arrays(
    program: Program, given: Mapping[str, Array], seed: int, kind: Kind, *, positive: bool = False
) -> dict[str, Array]:
    """Every array parameter: given ones unchanged, index arrays in range, and arrays that no stage reads
    poisoned.

    positive: all numbers are above 0, as divisors, shift counts and logarithms need. Raises Failed D104 if
    the memory that is left does not hold the arrays.
    """
    rng = np.random.default_rng(seed)
    indices, limits = index_arrays(program), index_limits(program)
    read = read_before_written(program)
    out: dict[str, Array] = {}
    for b in (program.buffer_of[p] for p in program.params if p in program.buffer_of):
        # they are drawn in double precision, then converted
        demand_room(f"array `{b.name}` while it is drawn", prod(b.shape) * (_DRAWN + b.dtype.bytes))
        values = _values(rng, b, kind, limits.get(b.name), _most(program, b), positive=positive)
        if b.name in given:
            values = given[b.name].reshape(b.shape)
        elif b.name not in read:
            values = _poison(b)
        out[b.name] = np.ascontiguousarray(values)
    drawn = [n for n in out if n in indices and n not in limits and n not in given and n in read]
    draw_indices(program, rng, drawn, out)
    return out


def make_scalars(program: Program, given: Mapping[str, int | float], seed: int) -> dict[str, int | float]:
    """Every scalar parameter: sizes as bound, given ones unchanged, others small whole numbers."""
    rng = np.random.default_rng(seed + 1)
    out: dict[str, int | float] = {}
    for s in program.scalars:
        drawn = int(rng.integers(1, 4))
        value = s.size if s.size is not None else given.get(s.name, drawn)
        out[s.name] = float(value) if s.dtype.is_float else int(value)
    return out


def _most(program: Program, b: Buffer) -> int:
    """The largest integer that is drawn. Tensor cores add few bits of 8-bit floats (`mdh.ir.numerics`): the
    longer the sums, the smaller their terms."""
    if b.dtype not in EIGHTHS:
        return _LARGEST
    dims = (s.dims for s in program.stages if b.name in s.read)
    terms = max((prod(d.extent for d in each if d.kind is DimKind.PW) for each in dims), default=1)
    return next((n for n in range(_LARGEST, 1, -1) if n * n * terms <= _EXACT_SUM), 1)


def _values(
    rng: np.random.Generator, b: Buffer, kind: Kind, below: int | None, most: int, *, positive: bool
) -> Array:
    dtype = numpy_dtype(b.dtype)
    if below is not None:
        return rng.integers(0, below, b.shape).astype(dtype)
    if kind == "sparse":
        some = rng.choice([0.5, 1.0] if b.dtype.is_float else [1], b.shape)
        return np.where(rng.random(b.shape) < 0.75 * (not positive), 0, some).astype(dtype)
    if kind == "wide":
        return _wide(rng, b, positive=positive)
    if not b.dtype.is_float or kind == "exact":
        least = 1 if positive else 0 if b.dtype.kind == "uint" else -most
        return rng.integers(least, most + 1, b.shape).astype(dtype)
    return rng.uniform(0.1 if positive else -1.0, 1.0, b.shape).astype(dtype)


def _wide(rng: np.random.Generator, b: Buffer, *, positive: bool) -> Array:
    """Powers of two of either sign, some of them plus or minus one. For floats, from 2^-20 to 2^24."""
    dtype = numpy_dtype(b.dtype)
    if b.dtype.is_float:
        least, most = {8: (-6, 9), 16: (-10, 12)}.get(b.dtype.bits, (-20, 25))
        powers = np.ldexp(1.0, rng.integers(least, most, b.shape))
        return (powers * (1 if positive else rng.choice([-1, 0, 1], b.shape))).astype(dtype)
    powers = np.left_shift(1, rng.integers(0, min(b.dtype.bits, 63), b.shape))
    values = powers + rng.choice([-1, 0, 0, 0, 0, 1], b.shape)
    if b.dtype.kind == "int" and not positive:
        values *= rng.choice([-1, 1], b.shape)
    near: Array = values.astype(dtype)
    if positive:
        np.maximum(near, 1, out=near)
    return near


def _poison(b: Buffer) -> Array:
    """NaN, or a pattern that no small sum gives, so that an element that was never written is found."""
    if b.dtype.is_float:
        return np.full(b.shape, np.nan).astype(numpy_dtype(b.dtype))
    size = b.dtype.bytes
    return np.frombuffer(bytes([0xA5]) * size * int(np.prod(b.shape)), numpy_dtype(b.dtype)).reshape(b.shape)


def read_before_written(program: Program) -> frozenset[str]:
    """Arrays whose first contents a stage may see: it reads them, or only part of them was written before."""
    seen: set[str] = set()
    written: set[str] = set()
    for stage in program.stages:
        seen |= {name for name in stage.read if name not in written}
        written |= stage.written
    return frozenset(seen | {b.name for b in program.buffers if not _covered(program, b)})


def _covered(program: Program, b: Buffer) -> bool:
    """Whether one stage writes the whole array: its indices are distinct dimensions that span it."""
    for stage in program.stages:
        extents = {d.name: d.extent for d in stage.dims}
        for output in (o for r in stage.results for o in r.outputs if o.buffer == b.name):
            names = [getattr(i, "name", None) for i in output.index]
            spans = tuple(extents.get(n, 0) if n is not None else 0 for n in names)
            if spans == b.shape and len(set(names)) == len(names):
                return True
    return False
