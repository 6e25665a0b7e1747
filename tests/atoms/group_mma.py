"""Atoms of warp groups in the interpreter: they read shared memory by matrix descriptors, and run on while
the warps that issued them go on.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", "Matrix Descriptor Format".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mdh.ir.atoms import Atom
from mdh.ir.dtype import TF32, DType
from mdh.ir.matrix import SharedMatrix
from tests.atoms.blocks import Array, Shared, demand_tf32, numpy_type, product_of, swizzled_address

WARPS = 4
ROWS = 16
"""Of the result, in the registers of each warp."""


@dataclass(frozen=True)
class Descriptor:
    """start: an address. leading, stride: byte offsets, as PTX calls them. swizzle: of the mode, in bytes.
    along_k: the bit of the instruction that says so is not set."""

    start: int
    leading: int
    stride: int
    swizzle: int
    along_k: bool

    @staticmethod
    def of(m: SharedMatrix, start: int) -> "Descriptor":
        for n in (start, m.block, m.group):
            assert n % 16 == 0, "a descriptor counts 16 bytes"
        assert start < 2**18, "an address that a descriptor cannot say"
        assert 0 <= m.block < 2**18, "an offset that a descriptor cannot say"
        assert 0 <= m.group < 2**18, "an offset that a descriptor cannot say"
        assert m.swizzle in (32, 64, 128), "a swizzle that a descriptor cannot say"
        return Descriptor(start, m.block, m.group, m.swizzle, m.along_k)

    def matrix(self, shared: Shared, count: int, k: int, t: DType) -> Array:
        """The elements by [m or n][k]."""
        place = _places(self, shared.first, shared.bytes.size, count, k, t.bytes)
        width = np.dtype(f"u{t.bytes}")
        # every byte is 0 or 1
        written = shared.by_engine.view(width)[place] == int.from_bytes(b"\1" * t.bytes)
        assert written.all(), "an atom reads what the copy engine has not written"
        elements = shared.bytes.view(width)[place].view(numpy_type(t))
        if t == TF32:
            demand_tf32(elements)
        return elements


@lru_cache(512)
def _places(d: Descriptor, first: int, size: int, count: int, k: int, width: int) -> Array:
    """Where elements of `width` bytes lie, counted in elements from the address `first` on: shared memory of
    `size` bytes begins there."""
    mine, along = np.arange(count)[:, None], np.arange(k)[None, :]
    # a base offset of 0 says that the pattern of the swizzle begins at a multiple of its size
    if d.along_k:
        # ((8, n), (T, 2)) : ((row, stride), (1, T)): the leading offset is not used
        assert d.start % d.swizzle + k * width <= d.swizzle, "an atom is longer than a row"
        at = mine // 8 * d.stride + mine % 8 * d.swizzle + along * width
    else:
        # ((T, chunks, m), (8, k)) : ((1, T, leading), (row, stride))
        assert width == 2, "only 16-bit factors have rows along m or n"
        assert d.start % (8 * d.swizzle) == 0, "a matrix begins inside of its swizzle's pattern"
        row = d.swizzle // width
        at = mine // row * d.leading + mine % row * width
        at = at + along % 8 * d.swizzle + along // 8 * d.stride
    # a swizzle moves chunks of 16 bytes, which hold whole elements
    place = swizzled_address(d.start + at, d.swizzle) - first
    assert ((place >= 0) & (place + width <= size)).all(), "outside of shared memory"
    return place // width


@dataclass
class Issue:
    """One atom. a: None where each warp gives its rows, which are in `held`. into: adds a warp's rows to its
    registers."""

    atom: Atom
    a: Descriptor | None
    b: Descriptor
    held: dict[int, Array] = field(default_factory=dict)
    into: dict[int, Callable[[Array], None]] = field(default_factory=dict)


@dataclass
class Queue:
    """The atoms of a warp group, in their order; the first `done` of them have run."""

    shared: Shared
    issues: list[Issue] = field(default_factory=list)
    done: int = 0

    def issue(self, warp: int, number: int, issue: Issue, into: Callable[[Array], None]) -> None:
        """A warp issues its atom of this number."""
        if number == len(self.issues):
            self.issues.append(issue)
        same = self.issues[number]
        assert (same.atom, same.a, same.b) == (issue.atom, issue.a, issue.b), "warps of a group differ"
        same.held |= issue.held
        same.into[warp] = into

    def able(self) -> Callable[[], None] | None:
        if self.done < len(self.issues) and len(self.issues[self.done].into) == WARPS:
            return self.run
        return None

    def run(self) -> None:
        issue = self.issues[self.done]
        atom = issue.atom
        if issue.a is None:
            a = np.concatenate([issue.held[warp] for warp in range(WARPS)])
        else:
            a = issue.a.matrix(self.shared, atom.m, atom.k, atom.left)
        b = issue.b.matrix(self.shared, atom.n, atom.k, atom.right)
        total = product_of(a, b.T).astype(numpy_type(atom.acc))
        for warp, into in issue.into.items():
            into(total[ROWS * warp : ROWS * (warp + 1)])
        self.done += 1
