"""If-conversion undone: an element that keeps its value under a condition is not stored then.

A value that is stored where a condition holds is `c ? x : A[i]`. To store A[i] again changes nothing. But if
other threads read A[i] meanwhile, it is a data race.

Requires: a store and the read of its old element have the same index. Guarantees: the same values in memory;
no element of an array that is also read elsewhere is stored unless it may change.
"""

from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.expr import Expr, Load, Select, walk
from mdh.ir.kernel import Buf, If, Stmt, Store
from mdh.ir.walk import expressions, rewritten, statements


def predicate(body: tuple[Stmt, ...], bufs: dict[str, Buf]) -> tuple[Stmt, ...]:
    """`body` with stores under conditions. bufs: of device and shared memory."""
    read: dict[str, set[tuple[Expr, ...]]] = {}
    for s in statements(body):
        for e in expressions(s):
            for x in walk(e):
                if isinstance(x, Load):
                    read.setdefault(x.buffer, set()).add(x.index)
    shared = {n for n, at in read.items() if len(at) > 1 and n in bufs and bufs[n].space is Space.DM}
    return rewritten(body, lambda s: _stored(s, shared)) if shared else body


def _stored(s: Stmt, shared: set[str]) -> Stmt:
    """The store under its condition, if it is one to an array of `shared`."""
    if not isinstance(s, Store) or s.buffer not in shared or not isinstance(s.value, Select):
        return s
    if not _is_old(s.value.other, s):
        return s
    inner = _stored(replace(s, value=s.value.then), shared)
    return If(s.value.cond, (inner,))


def _is_old(e: Expr, s: Store) -> bool:
    return isinstance(e, Load) and (e.buffer, e.index) == (s.buffer, s.index)
