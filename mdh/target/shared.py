"""Where a kernel's shared-memory buffers lie."""

from dataclasses import dataclass

from mdh.ir.kernel import SWIZZLE_LINE, Alloc, Buf, Kernel, Move, Space
from mdh.target.registers import access_bytes
from mdh.target.statements import nested

STATIC_LIMIT = 48 * 1024
"""Bytes of shared memory that CUDA lets a kernel declare; more is asked for at the launch."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A shared buffer at `start` bytes, its address a multiple of `align`; `elements` includes padding."""

    buf: Buf
    start: int
    align: int
    elements: int

    @property
    def end(self) -> int:
        return self.start + self.elements * self.buf.lanes * self.buf.dtype.bytes


def shared_layout(kernel: Kernel) -> tuple[Slot, ...]:
    """The kernel's SM buffers one after another: swizzled ones, whole lines each, then by declaration."""
    allocs = (s.buf for s in nested(kernel.body) if isinstance(s, Alloc))
    bufs = {b.name: b for b in allocs if b.space is Space.SM}
    slots: list[Slot] = []
    end = 0
    for buf in sorted(bufs.values(), key=lambda b: b.swizzle == 0):
        align = alignment(buf, kernel)
        start = -(-end // align) * align
        slots.append(Slot(buf, start, align, _elements(buf)))
        end = slots[-1].end
    return tuple(slots)


def alignment(buf: Buf, kernel: Kernel) -> int:
    """A line for swizzled buffers, 16 for asynchronous copies, else the widest access."""
    if buf.swizzle:
        return SWIZZLE_LINE
    is_async = any(
        isinstance(s, Move) and s.engine == "async" and s.dst == buf.name for s in nested(kernel.body)
    )
    widest = 16 if is_async else access_bytes(buf, kernel)
    return max(widest, buf.align, buf.dtype.bytes)


def _elements(buf: Buf) -> int:
    """A swizzle permutes within lines; the last one must be whole."""
    if not buf.swizzle:
        return buf.elements
    line = SWIZZLE_LINE // buf.dtype.bytes
    return -(-buf.elements // line) * line
