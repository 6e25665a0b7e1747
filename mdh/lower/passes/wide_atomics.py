"""Wide atomic additions on GPUs that have them: unrolled loops over contiguous floats add 2 or 4 at once.

Requires: vectors not yet widened. Guarantees: the same additions under the same conditions, each element's in
one piece. What such a loop would store wide, it adds wide: the proof is that of `widen`.
"""

from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.dtype import F32
from mdh.ir.expr import Load, loads
from mdh.ir.kernel import Atomic, Buf, For, ForKind, If, Move, Stmt, Store
from mdh.ir.walk import allocated, with_bodies
from mdh.lower.passes.widen import wide_loop


def widen_atomics(
    body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str], guarded: frozenset[str]
) -> tuple[Stmt, ...]:
    """As `widen`."""
    return _walk(body, {**bufs, **allocated(body)}, names, guarded)


def _walk(
    body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str], guarded: frozenset[str]
) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        added = _only_addition(s, bufs)
        if isinstance(s, For) and added is not None:
            wide = wide_loop(_with(s, Store(added.buffer, added.index, added.value)), bufs, names, guarded)
            if wide is not None:
                out.extend(_additions(tuple(wide), added.buffer))
                continue
        out.append(with_bodies(s, lambda b: _walk(b, bufs, names, guarded)))
    return tuple(out)


def _only_addition(s: Stmt, bufs: dict[str, Buf]) -> Atomic | None:
    """What an unrolled loop adds to device memory, where it does nothing else."""
    match s:
        case For(kind=ForKind.UNROLL, factor=0, body=(Atomic() as a,) | (If(_, (Atomic() as a,), ()),)):
            buf = bufs.get(a.buffer)
            fits = buf is not None and buf.space is Space.DM and buf.dtype == F32 and a.value.dtype == F32
            alone = a.op == "+" and a.result is None and all(x.buffer != a.buffer for x in loads(a.value))
            return a if fits and alone else None
    return None


def _with(loop: For, store: Store) -> For:
    match loop.body:
        case (If(cond, _, ()),):
            return replace(loop, body=(If(cond, (store,)),))
    return replace(loop, body=(store,))


def _additions(body: tuple[Stmt, ...], buffer: str) -> tuple[Stmt, ...]:
    """The body with additions to the buffer for its stores."""
    out: list[Stmt] = []
    for s in body:
        match s:
            case Move(dst=b, dst_index=index, src=row, src_index=at, lanes=lanes) if b == buffer:
                out.append(Atomic("+", b, index, Load(row, at, F32, lanes), lanes=lanes))
            case Store(buffer=b, index=index, value=value) if b == buffer:
                out.append(Atomic("+", b, index, value))
            case _:
                out.append(with_bodies(s, lambda inner: _additions(inner, buffer)))
    return tuple(out)
