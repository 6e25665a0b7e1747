"""What a call of a kernel depends on, as a value that is made in a microsecond or two: addresses and numbers.

A call with the key of an earlier one has the same memory and the same values: it is that call once more. A
key is made of each call's own arguments. Arrays are looked at every time, and none is remembered.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

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
from mdh.device.arrays import host_array, packed_view
from mdh.device.protocols import Device
from mdh.ir.program import Buffer, Program
from mdh.reference.numbers import numpy_dtype

ALIGNMENT = 16
"""Bytes of the widest access of a GPU, on whose alignment kernels rely. CPUs need an element's."""
_NUMBERS = frozenset((int, float))
Key = tuple[tuple[Any, ...], tuple[int, ...]]
"""Addresses, then numbers, each in C's order; the stream of the arrays, none for host memory."""


class Keys:
    """Of the calls of one program on one device."""

    def __init__(self, program: Program, device: Device, written: frozenset[str]) -> None:
        places, buffer_of = list(enumerate(program.params)), program.buffer_of
        self._buffers = [(i, buffer_of[n]) for i, n in places if n in buffer_of]
        self._numbers = [i for i, n in places if n in program.scalar_of]
        self._written, self._device = written, device
        self._by_type: dict[type, tuple[list[tuple[int, Reader]], Stream]] = {}
        sizes = [math.prod(b.shape) * numpy_dtype(b.dtype).itemsize for _, b in self._buffers]
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
        for place in self._numbers:
            value = args[place]
            if type(value) not in _NUMBERS:
                return None
            # 1 and 1.0 are equal, and so are the zeros, but no kernel's arguments
            found.append(value if value else str(value))
            found.append(type(value))
        return tuple(found), stream()

    def arrays(self, key: Key) -> dict[str, Any]:
        """What a device takes for the memory of a key. It is not kept alive."""
        out: dict[str, Any] = {}
        for (_, b), address in zip(self._buffers, key[0], strict=False):
            view = packed_view(
                address, b.shape, numpy_dtype(b.dtype), self._device.spec if key[1] else "host"
            )
            out[b.name] = view if key[1] else host_array(view)
        return out

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
