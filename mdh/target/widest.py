"""How wide the accesses of a kernel to its buffers are, from which their alignment follows."""

from collections.abc import Iterator, Mapping

from mdh.ir.expr import Load, walk
from mdh.ir.kernel import Buf, Kernel, Move, Stmt, Store
from mdh.ir.walk import expressions, statements

MOST = 16
"""Bytes of the widest access of a GPU."""


def widest_lanes(kernel: Kernel) -> dict[str, int]:
    """Of each buffer that is accessed, the most lanes at once. One walk answers for all buffers: a kernel may
    have hundreds of both."""
    out: dict[str, int] = {}
    for s in statements(kernel.body):
        for name, lanes in _accesses(s):
            out[name] = max(lanes, out.get(name, 1))
    return out


def _accesses(s: Stmt) -> Iterator[tuple[str, int]]:
    match s:
        case Move(dst, _, src, _, lanes):
            yield from ((dst, lanes), (src, lanes))
        case Store(name, _, _, lanes):
            yield name, lanes
        case _:
            pass
    for e in expressions(s):
        yield from ((n.buffer, n.lanes) for n in walk(e) if isinstance(n, Load))


def access_bytes(buf: Buf, lanes: Mapping[str, int]) -> int:
    """What the first element must be aligned to. lanes: of the kernel, by `widest_lanes`."""
    return min(MOST, lanes.get(buf.name, 1) * buf.dtype.bytes)
