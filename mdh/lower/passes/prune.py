"""Dead code: names that nothing uses, and private or shared buffers that are filled but never read.

Requires: nothing. Guarantees: every Let is used, every SM and RM buffer is read somewhere. Writes to device
memory and barriers are never removed.
"""

from mdh.ir.copy_engine import BoxCopy
from mdh.ir.expr import Call, Var, walk
from mdh.ir.intrinsic import OF_WARP
from mdh.ir.kernel import Alloc, For, If, Let, Move, Stmt, Store
from mdh.ir.walk import allocated, expressions, reads, statements, with_bodies


def prune(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """`body` without dead definitions and copies, repeated until nothing changes."""
    while True:
        used = _used(body)
        smaller = _without(body, used, set(allocated(body)))
        if smaller == body:
            return body
        body = smaller


def _used(body: tuple[Stmt, ...]) -> set[str]:
    """Names of variables in expressions and of buffers that are read (by an atomic with a result, too)."""
    used: set[str] = set()
    for s in statements(body):
        updates = {s.buffer} if isinstance(s, Store) and _only_updates(s) else set()
        used |= reads(s) - updates
        # tokens count its bytes, so that none of a slot's boxes may be left out
        used |= {s.dst} if isinstance(s, BoxCopy) else set()
        for e in expressions(s):
            used |= {n.name for n in walk(e) if isinstance(n, Var)}
    return used


def _only_updates(s: Store) -> bool:
    """`b[i] = b[i] op e` keeps b alive only for itself."""
    return s.buffer in reads(s)


def _without(body: tuple[Stmt, ...], used: set[str], local: set[str]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        match s:
            case Let(name, value, _) if name not in used and not _effect(value):
                continue
            case Alloc(buf, _) if buf.name not in used:
                continue
            case Store(buffer=b) | Move(dst=b) if b in local and b not in used:
                continue
        s = with_bodies(s, lambda b: _without(b, used, local))  # noqa: PLW2901
        if isinstance(s, For) and not s.body:
            continue
        if isinstance(s, If) and not s.then and not s.orelse:
            continue
        out.append(s)
    return tuple(out)


def _effect(value: object) -> bool:
    """Shuffles and votes need every lane, even where one lane's result is unused."""
    return isinstance(value, Call) and value.fn in OF_WARP
