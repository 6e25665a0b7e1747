"""Where a kernel's shared-memory buffers lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from mdh.hardware import Engine, Space
from mdh.ir.kernel import SWIZZLE_LINE, Alloc, Buf, Kernel, Move, Stmt
from mdh.ir.walk import bodies, statements
from mdh.target.widest import access_bytes, widest_lanes

STATIC_LIMIT = 48 * 1024
"""Bytes of shared memory that CUDA lets a kernel declare; more is asked for at the launch."""


@dataclass(frozen=True, slots=True)
class SharedSlot:
    """A shared buffer at `start` bytes, its address a multiple of `align`; `elements` includes padding."""

    buf: Buf
    start: int
    align: int
    elements: int

    @property
    def end(self) -> int:
        return self.start + self.elements * self.buf.lanes * self.buf.dtype.bytes


def shared_layout(kernel: Kernel) -> tuple[SharedSlot, ...]:
    """The kernel's SM buffers one after another: swizzled ones, whole lines each, then by declaration. Those
    of the two sides of an If begin at the same place."""
    lanes, copied = widest_lanes(kernel), _copied(kernel)

    def laid(body: tuple[Stmt, ...], end: int) -> list[SharedSlot]:
        slots: list[SharedSlot] = []
        own = {s.buf.name: s.buf for s in body if isinstance(s, Alloc) and s.buf.space is Space.SM}
        for buf in sorted(own.values(), key=lambda b: b.swizzle == 0):
            align = alignment(buf, lanes, copied)
            start = -(-end // align) * align
            slots.append(SharedSlot(buf, start, align, shared_elements(buf)))
            end = slots[-1].end
        for s in body:
            inner = [laid(x, end) for x in bodies(s)]
            slots += (slot for side in inner for slot in side)
            end = max([end, *(slot.end for side in inner for slot in side)])
        return slots

    return tuple(laid(kernel.body, 0))


def shared_bytes_of(slots: tuple[SharedSlot, ...]) -> int:
    return max((slot.end for slot in slots), default=0)


def overlaid(slots: tuple[SharedSlot, ...]) -> bool:
    """Whether buffers lie in the same place."""
    return any(b.start < a.end for a, b in pairwise(slots))


def _copied(kernel: Kernel) -> frozenset[str]:
    """What asynchronous copies write."""
    moves = (s for s in statements(kernel.body) if isinstance(s, Move))
    return frozenset(s.dst for s in moves if s.engine == Engine.ASYNC)


def alignment(buf: Buf, lanes: Mapping[str, int], copied: frozenset[str]) -> int:
    """A line for swizzled buffers, 16 for asynchronous copies, else the widest access."""
    if buf.swizzle:
        return max(SWIZZLE_LINE, buf.align)
    widest = 16 if buf.name in copied else access_bytes(buf, lanes)
    return max(widest, buf.align, buf.dtype.bytes)


def shared_elements(buf: Buf) -> int:
    """Elements with padding. A swizzle permutes within lines; the last one must be whole."""
    if not buf.swizzle:
        return buf.elements
    line = SWIZZLE_LINE // buf.dtype.bytes
    return -(-buf.elements // line) * line
