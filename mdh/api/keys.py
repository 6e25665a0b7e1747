"""What a call of a kernel depends on, as a value that is made in a microsecond: marks of arrays, numbers.

A call with the key of an earlier one has the same memory and the same values: it is that call once more. A
key is made of each call's own arguments. Arrays are looked at every time, and none is remembered.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np

from mdh.device.addresses import HOST, ArraysOfType, Wanted, looked_at, stream_reader
from mdh.device.arrays import packed_view
from mdh.device.protocols import BoundCall, Device
from mdh.ir.program import Program
from mdh.reference.numbers import numpy_dtype

ALIGNMENT = 16
"""Bytes of the widest access of a GPU, on whose alignment kernels rely. CPUs need an element's."""
_NUMBERS = frozenset((int, float))
Key = tuple[Any, ...]
"""Marks of the arrays; where there are numbers, the pair of these marks and the numbers with their types."""
Pick = Callable[[Sequence[Any]], Sequence[Any]]


class Keys:
    """Of the calls of one program on one device. arrays, numbers: their places among the parameters. wanted:
    the arrays that kernels take. apart: pairs of arrays, with their sizes, that may not share memory."""

    def __init__(self, program: Program, device: Device, written: frozenset[str]) -> None:
        places, buffer_of = list(enumerate(program.params)), program.buffer_of
        self.arrays = [i for i, n in places if n in buffer_of]
        self.numbers = [i for i, n in places if n in program.scalar_of]
        self.device, host = device, device.memory == "host"
        number = HOST if host else int(device.spec.partition(":")[2] or 0)
        buffers = [buffer_of[program.params[i]] for i in self.arrays]
        self.wanted = {
            b.name: Wanted(t, b.shape, b.name in written, number, t.itemsize if host else ALIGNMENT)
            for b, t in ((b, numpy_dtype(b.dtype)) for b in buffers)
        }
        self.apart = [
            (a, x.nbytes, b, y.nbytes)
            for (a, x), (b, y) in combinations(self.wanted.items(), 2)
            if x.written or y.written
        ]

    def of_type(self, kind: type) -> "Calls | None":
        """The calls on arrays of type `kind`. None: each is to be looked at on its own."""
        if not self.device.in_place:
            return None
        library = looked_at(kind, self.device.memory, tuple(self.wanted.values()))
        return None if library is None else Calls(self, kind, library)


class Calls:
    """The calls of one program on arrays of one type.

    key: of arguments. None for those that are to be looked at closely: their types are others, or methods of
    their library raise.
    stream: of that library; None for memory of the host.
    recent: calls that are kept bound.
    models: by their numbers, a call of each that others can be made of.
    """

    def __init__(self, keys: Keys, kind: type, library: ArraysOfType) -> None:
        self.key = _key_maker(keys, library)
        self.stream = stream_reader(kind, keys.device.spec)
        self.recent: dict[Key, BoundCall] = {}
        self.models: dict[Key, BoundCall] = {}
        self._keys, self._library = keys, library

    def addresses(self, key: Key) -> dict[str, int] | None:
        """Of the arrays, by parameter. None if one is not as kernels take it, or shares memory with another
        one and either is written."""
        keys = self._keys
        marks = key[0] if keys.numbers else key
        found = self._library.addresses(marks)
        if found is None:
            return None
        out = dict(zip(keys.wanted, found, strict=True))
        for a, size, b, other in keys.apart:
            if out[a] < out[b] + other and out[b] < out[a] + size:
                return None
        return out

    def numbers(self, key: Key) -> Key:
        """The part of a key that is numbers."""
        return key[1] if self._keys.numbers else ()

    def memory(self, addresses: Mapping[str, int]) -> dict[str, Any]:
        """What a device takes for memory at these addresses. It is not kept alive."""
        wanted, device = self._keys.wanted, self._keys.device
        if device.memory != "host":
            return {
                n: packed_view(a, wanted[n].shape, wanted[n].dtype, device.spec) for n, a in addresses.items()
            }
        blocks = {n: (ctypes.c_char * wanted[n].nbytes).from_address(a) for n, a in addresses.items()}
        # numpy's other ways to an array at an address take five times as long
        return {n: np.ndarray(wanted[n].shape, wanted[n].dtype, memoryview(b)) for n, b in blocks.items()}


def picker(places: Sequence[int], count: int) -> Pick:
    """What takes the values at these places out of `count` values."""
    if list(places) == list(range(count)):
        return lambda values: values
    return itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)


def _key_maker(keys: Keys, library: ArraysOfType) -> Callable[[Sequence[Any]], Key | None]:
    marks, count = library.marks, len(keys.arrays) + len(keys.numbers)
    if not keys.numbers:
        return marks
    some, others = picker(keys.arrays, count), picker(keys.numbers, count)

    def key(args: Sequence[Any]) -> Key | None:
        numbers: Key = ()
        for value in others(args):
            if type(value) not in _NUMBERS:
                return None
            # 1 and 1.0 are equal, and so are the zeros, but no kernel's arguments
            numbers += (value or str(value), type(value))
        found = marks(some(args))
        return None if found is None else (found, numbers)

    return key
