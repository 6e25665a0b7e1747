"""Updates of memory at the edge, on GPUs: what an element held is read in front of the guard, not behind it.

Requires: vectors widened. Guarantees: the same accesses under the same conditions. An update behind a guard
is a branch, and a branch lets no later load pass it: each element of a thread's tile would wait for memory in
its turn. A load that has the guard for its own condition needs no branch around the store, so that several
loads of an unrolled loop are on their way together.
"""

from dataclasses import replace
from itertools import takewhile

from mdh.hardware import Engine, Space
from mdh.ir.expr import Const, Expr, Load, Select, Var, loads, map_children
from mdh.ir.kernel import Alloc, Buf, For, ForKind, If, Let, Move, Stmt, Store
from mdh.ir.names import fresh
from mdh.ir.walk import rewritten


def read_ahead(body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str]) -> tuple[Stmt, ...]:
    """`bufs`: DM and SM buffers by name; `names`: names in use, new ones are added."""
    return rewritten(body, lambda s: _loop(s, bufs, names))


def _loop(s: Stmt, bufs: dict[str, Buf], names: set[str]) -> Stmt:
    if isinstance(s, For) and s.kind is ForKind.UNROLL:
        return replace(s, body=_apart(s.body, bufs, names))
    return s


def _apart(body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str]) -> tuple[Stmt, ...]:
    """The body of an unrolled loop: what its guarded statements read, then the rest behind the guard."""
    match body:
        case (If(cond, (Store() as store,), ()),) if not any(loads(cond)):
            return _scalar(cond, store, bufs, names)
        case (If(cond, then, ()),) if not any(loads(cond)):
            first = list(takewhile(lambda s: _opens(s, bufs), then))
            if not any(isinstance(s, Move) for s in first):
                return body
            ahead = (replace(s, pred=cond) if isinstance(s, Move) else s for s in first)
            rest = then[len(first) :]
            return (*ahead, If(cond, rest)) if rest else tuple(ahead)
    return body


def _scalar(cond: Expr, store: Store, bufs: dict[str, Buf], names: set[str]) -> tuple[Stmt, ...]:
    """A store whose value is made of what the element held."""
    if not _memory(store.buffer, bufs):
        return (If(cond, (store,)),)
    held = Load(store.buffer, store.index, bufs[store.buffer].dtype)
    if all(load != held for load in loads(store.value)):
        return (If(cond, (store,)),)
    name = fresh("held", names)
    known = Let(name, Select(cond, held, Const(0, held.dtype), held.dtype), held.dtype)
    new = replace(store, value=_instead(store.value, held, Var(name, held.dtype)))
    return (known, If(cond, (new,)))


def _opens(s: Stmt, bufs: dict[str, Buf]) -> bool:
    """Declares registers, or fills some from memory."""
    match s:
        case Alloc(buf, _):
            return buf.space is Space.RM
        case Move(dst, _, src, pred=None, engine=Engine.PLAIN):
            return dst not in bufs and _memory(src, bufs)
    return False


def _memory(buffer: str, bufs: dict[str, Buf]) -> bool:
    return buffer in bufs and bufs[buffer].space is Space.DM and not bufs[buffer].volatile


def _instead(e: Expr, old: Expr, new: Expr) -> Expr:
    return new if e == old else map_children(e, lambda c: _instead(c, old, new))
