"""Boxes on their way from shared memory to an array, in the interpreter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from random import Random

import numpy as np

from mdh.ir.copy_engine import TensorMap
from tests.atoms.blocks import Array, Block, box_addresses, numpy_type


@dataclass
class Leaving:
    """A box that is stored. place: the address of its first byte. read: its elements, once they are read."""

    map: TensorMap
    start: tuple[int, ...]
    block: Block
    buffer: str
    place: int
    read: Array | None = None

    def begin(self) -> None:
        m, shared = self.map, self.block.shared
        row, size = m.box[-1] * m.dtype.bytes, prod(m.box) * m.dtype.bytes
        assert row % 16 == 0 and (not m.swizzle or row <= m.swizzle), "rows of a box that cannot be stored"
        assert self.place % max(128, 8 * m.swizzle) == 0, "a box is not aligned in shared memory"
        slot = shared.slots[self.buffer]
        assert self.place - shared.first + size <= slot.end, "a box that ends behind its buffer"
        assert (shared.unseen[self._at()] < 0).all(), f"the copy engine does not see all of {self.buffer}"

    def take(self) -> None:
        if self.read is None:
            taken = self.block.shared.bytes[self._at()]
            self.read = taken.view(numpy_type(self.map.dtype)).reshape(self.map.box)

    def put(self, memory: Mapping[str, Array]) -> None:
        self.take()
        m = self.map
        array = memory[m.buffer].reshape(m.shape)
        at = np.meshgrid(*(np.arange(n) + x for n, x in zip(m.box, self.start, strict=True)), indexing="ij")
        inside = np.ones(m.box, bool)
        for x, n in zip(at, m.shape, strict=True):
            inside &= (x >= 0) & (x < n)
        assert self.read is not None
        array[tuple(x[inside] for x in at)] = self.read[inside]

    def _at(self) -> Array:
        size = prod(self.map.box) * self.map.dtype.bytes
        return self.block.shared.place(box_addresses(self.place, size, self.map.swizzle))


@dataclass
class Stores:
    """Of a thread. groups: those that it has closed, the oldest first. A box is read at once, or as late as a
    wait allows. It is in the array as late as one allows."""

    order: Random
    open: list[Leaving] = field(default_factory=list)
    groups: list[list[Leaving]] = field(default_factory=list)

    def add(self, box: Leaving) -> None:
        box.begin()
        if self.order.random() < 0.3:
            box.take()
        self.open.append(box)

    def commit(self) -> None:
        self.groups.append(self.open)
        self.open = []

    def wait(self, pending: int, memory: Mapping[str, Array], *, stored: bool) -> None:
        done = self.groups[: max(0, len(self.groups) - pending)]
        for box in (b for group in done for b in group):
            box.take()
            if stored:
                box.put(memory)
        if stored:
            self.groups = self.groups[len(done) :]

    @property
    def ended(self) -> bool:
        return not self.open and not self.groups
