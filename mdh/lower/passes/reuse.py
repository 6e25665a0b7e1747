"""Shared memory for two: results take the place of inputs that are no longer needed.

Requires: barriers are not placed yet. Guarantees: where one buffer takes the place of another one of the same
layout, no path through the kernel touches the earlier one after the later; the barrier between the last reads
of the one and the first writes of the other is `place_barriers`' to find, as between uses of any buffer.
"""

from dataclasses import replace
from functools import partial

from mdh.hardware import Space
from mdh.ir.kernel import Alloc, Barrier, Buf, For, If, Stmt, While
from mdh.ir.walk import reads, rewritten, statements, with_buffers, writes


def reuse_shared(body: tuple[Stmt, ...], own: frozenset[str]) -> tuple[Stmt, ...]:
    """`own`: buffers that place their barriers themselves; their memory is not given on."""
    bufs = {s.buf.name: s.buf for s in body if isinstance(s, Alloc) and s.buf.space is Space.SM}
    for late in list(bufs.values()):
        first = next((b for b in bufs.values() if b.name not in own and _serves(b, late, body)), None)
        if first is not None:
            body = tuple(s for s in body if not (isinstance(s, Alloc) and s.buf.name == late.name))
            body = rewritten(body, partial(_renamed, old=late.name, new=first.name))
            del bufs[late.name]
    return body


def _serves(early: Buf, late: Buf, body: tuple[Stmt, ...]) -> bool:
    alike = early.name != late.name and replace(early, name=late.name) == late
    return alike and _after(body, early.name, late.name, late_seen=False) is not None


def _after(body: tuple[Stmt, ...], early: str, late: str, *, late_seen: bool) -> bool | None:
    """Whether the later buffer has been touched behind `body`; None where the earlier one is, after it."""
    for s in body:
        if isinstance(s, If):
            ends = [_after(b, early, late, late_seen=late_seen) for b in (s.then, s.orelse)]
            if None in ends or ({early} & reads(s) and late_seen):
                return None
            late_seen = any(ends)
            continue
        inside = statements((s,))
        touched = {n for t in inside if not isinstance(t, Alloc) for n in reads(t) | writes(t)}
        if early in touched and (late_seen or (late in touched and isinstance(s, For | While))):
            return None
        if early in touched and late in touched:
            return None
        late_seen = late_seen or late in touched
    return late_seen


def _renamed(s: Stmt, old: str, new: str) -> Stmt:
    s = with_buffers(s, {old: new})
    return replace(s, reason=s.reason.replace(old, new)) if isinstance(s, Barrier) else s
