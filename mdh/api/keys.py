"""What a call of a kernel depends on, as a value that is made in a microsecond or two: addresses and numbers.

A call with the key of an earlier one has the same memory and the same values: it is that call once more. A
key is made of each call's own arguments. Arrays are looked at every time, and none is remembered.
"""

import ctypes
import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mdh.device.addresses import (
    HOST,
    Reader,
    Stream,
    cupy_reader,
    host_reader,
    library_of,
    nothing,
    stream_reader,
    torch_reader,
)
from mdh.device.arrays import packed_view
from mdh.device.protocols import Device
from mdh.ir.program import Buffer, Program
from mdh.reference.numbers import numpy_dtype

ALIGNMENT = 16
"""Bytes of the widest access of a GPU, on whose alignment kernels rely. CPUs need an element's."""
_NUMBERS = frozenset((int, float))
Key = tuple[tuple[Any, ...], tuple[int, ...]]
"""Addresses, then numbers, each in C's order; the stream of the arrays, none for host memory."""


def numbers_of(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """Numbers as they stand in a key; None for other kinds than int and float."""
    out: list[Any] = []
    for value in values:
        if type(value) not in _NUMBERS:
            return None
        # 1 and 1.0 are equal, and so are the zeros, but no kernel's arguments
        out += (value if value else str(value), type(value))
    return tuple(out)


class Keys:
    """Of the calls of one program on one device."""

    def __init__(self, program: Program, device: Device, written: frozenset[str]) -> None:
        places, buffer_of = list(enumerate(program.params)), program.buffer_of
        self._buffers = [(i, buffer_of[n]) for i, n in places if n in buffer_of]
        self._numbers = [i for i, n in places if n in program.scalar_of]
        self._written, self._device = written, device
        self._by_type: dict[type, tuple[list[tuple[int, Reader]], Stream]] = {}
        types = [numpy_dtype(b.dtype) for _, b in self._buffers]
        sizes = [math.prod(b.shape) * t.itemsize for (_, b), t in zip(self._buffers, types, strict=True)]
        self._memory = [(t, ctypes.c_char * size) for t, size in zip(types, sizes, strict=True)]
        self._pairs = [
            (i, sizes[i], j, sizes[j])
            for i, j in combinations(range(len(sizes)), 2)
            if written & {self._buffers[i][1].name, self._buffers[j][1].name}
        ]

    def of(self, args: Sequence[Any]) -> Key | None:
        """As `_of`; None also where the arguments' own methods raise, which `Binder.bind` tells in words."""
        try:
            return self._of(args)
        except Exception:  # methods of other libraries may raise anything
            return None

    def _of(self, args: Sequence[Any]) -> Key | None:
        """None for arguments that are to be looked at more closely: wrong ones, and right ones of rarer
        kinds. All arrays are of one library."""
        if not self._buffers:
            return None
        kind = type(args[self._buffers[0][0]])
        known = self._by_type.get(kind)
        if known is None:
            readers = [(i, self._reader(kind, b)) for i, b in self._buffers]
            known = self._by_type[kind] = readers, stream_reader(kind, self._device.spec)
        readers, stream = known
        found: list[Any] = []
        for place, read in readers:
            address = read(args[place])
            if address is None:
                return None
            found.append(address)
        for i, size, j, other in self._pairs:
            if found[i] < found[j] + other and found[j] < found[i] + size:
                return None
        numbers = numbers_of([args[place] for place in self._numbers])
        return None if numbers is None else ((*found, *numbers), stream())

    def of_fresh(self, arrays: Sequence[Any], numbers: tuple[Any, ...]) -> Key | None:
        """The key of a call whose results are memory of their own, and whose numbers are known already. None
        for arrays that are to be looked at more closely, and those of a type that had no key before."""
        try:
            readers, stream = self._by_type[type(arrays[0])]
            found = [read(array) for (_, read), array in zip(readers, arrays, strict=True)]
        except Exception:  # methods of other libraries may raise anything
            return None
        return None if None in found else ((*found, *numbers), stream())

    def arrays(self, key: Key) -> dict[str, Any]:
        """What a device takes for the memory of a key. It is not kept alive."""
        there = zip(self._buffers, self._memory, key[0], strict=False)
        if not key[1]:
            # numpy's other ways to an array at an address take five times as long
            return {
                b.name: np.ndarray(b.shape, dtype, memoryview(block.from_address(address)))
                for (_, b), (dtype, block), address in there
            }
        spec = self._device.spec
        return {b.name: packed_view(address, b.shape, dtype, spec) for (_, b), (dtype, _), address in there}

    def numbers(self, key: Key) -> tuple[Any, ...]:
        """The part of a key that is numbers."""
        return key[0][len(self._buffers) :]

    def _reader(self, kind: type, b: Buffer) -> Reader:
        dtype, library = numpy_dtype(b.dtype), library_of(kind)
        number, align = int(self._device.spec.partition(":")[2] or 0), ALIGNMENT
        if self._device.memory == "host":
            if not self._device.in_place:
                return nothing
            if library != "torch":
                return host_reader(dtype, b.shape, written=b.name in self._written)
            number, align = HOST, dtype.itemsize
        if library == "torch":
            return torch_reader(dtype, b.shape, number, align)
        return cupy_reader(dtype, b.shape, number, align) if library == "cupy" else nothing
