"""Barriers: wherever shared memory changes hands between threads, and nowhere else.

Requires: SPMD code whose loops have uniform bounds and at least one turn. Guarantees: between a write of a
shared buffer and a read (or another statement's write) of it by other threads stands a block barrier that all
threads reach. An asynchronous copy writes up to the wait for it: a barrier before the wait does not order it.
Buffers of pipelined loops place their own barriers (lower/pipeline_loop.py) and are passed over.
"""

from dataclasses import dataclass, replace

from mdh.hardware import Engine, Space, SyncScope
from mdh.ir.expr import Call, Expr, Load, Var, walk
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Atomic, Barrier, For, If, Let, Move, Stmt, Store, Wait
from mdh.ir.matrix import GroupMma, LoadMatrix, LoadWord, Mma
from mdh.ir.walk import allocated, bodies, reads, writes

Write = tuple[str, int, bool]


@dataclass(frozen=True, slots=True)
class Pending:
    """Accesses since the last barrier: (buffer, statement id, atomic) of writes, buffers read.

    flying: writes of copies that no wait has followed yet.
    """

    written: frozenset[Write] = frozenset()
    read: frozenset[str] = frozenset()
    flying: frozenset[Write] = frozenset()

    def union(self, other: "Pending") -> "Pending":
        return Pending(self.written | other.written, self.read | other.read, self.flying | other.flying)

    def met(self) -> "Pending":
        """After a barrier."""
        return Pending(flying=self.flying)

    def waited(self, wait: Wait) -> "Pending":
        """After a wait; one that leaves copies pending does not say which."""
        flying = self.flying if wait.pending else frozenset[Write]()
        return Pending(self.written | self.flying, self.read, flying)


def place_barriers(
    body: tuple[Stmt, ...], shared: frozenset[str], divergent: frozenset[str]
) -> tuple[Stmt, ...]:
    """`shared`: SM buffers to protect. `divergent`: variables that differ between threads of a block."""
    out, _ = _place(body, Pending(), _Effects(shared), divergent_names(body, divergent))
    return out


def divergent_names(body: tuple[Stmt, ...], divergent: frozenset[str]) -> frozenset[str]:
    """All names that differ between threads: what is defined from such names, and register buffers that hold
    such a value or are stored to by only some threads. One element of other memory is the same for all."""
    own = {n for n, b in allocated(body).items() if b.space is Space.RM}
    while True:
        more = divergent | _tainted(body, divergent, own, inside=False)
        if more == divergent:
            return divergent
        divergent = more


def _tainted(
    body: tuple[Stmt, ...], divergent: frozenset[str], own: set[str], *, inside: bool
) -> frozenset[str]:
    out: set[str] = set()
    for s in body:
        match s:
            case Let(name, value, _) if not uniform(value, divergent):
                out.add(name)
            case Alloc(buf, init) if init is not None and not uniform(init, divergent):
                out.add(buf.name)
            case Store(buffer=b, index=index, value=value) if b in own:
                if inside or not all(uniform(e, divergent) for e in (*index, value)):
                    out.add(b)
            case Move(dst=b) if b in own:
                out.add(b)
            case LoadMatrix() | LoadWord() | Mma() | GroupMma():
                out |= writes(s)
            case Atomic(result=result) if result is not None:
                out.add(result)
        apart = inside or (isinstance(s, If) and not uniform(s.cond, divergent))
        for inner in bodies(s):
            out |= _tainted(inner, divergent, own, inside=apart)
    return frozenset(out)


def _place(
    body: tuple[Stmt, ...], pending: Pending, effects: "_Effects", divergent: frozenset[str]
) -> tuple[tuple[Stmt, ...], Pending]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Barrier) and s.scope is not SyncScope.GROUP:
            pending = pending.met()
            out.append(s)
            continue
        entered = isinstance(s, If) and uniform(s.cond, divergent)
        reason = "" if entered else _conflict(effects.of(s), pending)
        if reason:
            out.append(Barrier(SyncScope.BLOCK, reason))
            pending = pending.met()
        s, pending = _enter(s, pending, effects, divergent)  # noqa: PLW2901
        out.append(s)
    return tuple(out), pending


def _enter(s: Stmt, pending: Pending, effects: "_Effects", divergent: frozenset[str]) -> tuple[Stmt, Pending]:
    """Loops and uniform branches are entered; what only some threads run counts as one access.

    A loop is passed twice, so that the second pass meets what the first iteration left pending; a barrier
    against it stands at the outermost place in the body, not deeper.
    """
    match s:
        case For() if all(uniform(e, divergent) for e in (s.start, s.stop, s.step)):
            _, after = _place(s.body, pending, effects, divergent)
            body, after = _place(s.body, pending.union(after), effects, divergent)
            return replace(s, body=body), after
        case If() if uniform(s.cond, divergent):
            then, a = _place(s.then, pending, effects, divergent)
            orelse, b = _place(s.orelse, pending, effects, divergent)
            return If(s.cond, then, orelse), a.union(b)
        case Wait():
            return s, pending.waited(s)
        case _:
            return s, pending.union(effects.of(s))


def uniform(e: Expr, divergent: frozenset[str]) -> bool:
    """Whether all threads of a block compute the same. divergent: as of `place_barriers`."""
    for n in walk(e):
        match n:
            case Var(name) if name in divergent:
                return False
            case Call(Intrinsic.THREAD_ID):
                return False
            case Load(buffer) if buffer in divergent:
                return False
            case _:
                pass
    return True


class _Effects:
    """What statements, with those inside of them, do to shared buffers. A statement is met several times."""

    def __init__(self, shared: frozenset[str]) -> None:
        self._shared = shared
        self._known: dict[int, Pending] = {}
        """By the identity of statements. The body that `place_barriers` has keeps them alive."""

    def of(self, s: Stmt) -> Pending:
        known = self._known.get(id(s))
        if known is None:
            known = self._own(s)
            for body in bodies(s):
                for inner in body:
                    known = known.union(self.of(inner))
            self._known[id(s)] = known
        return known

    def _own(self, s: Stmt) -> Pending:
        written = frozenset((b, id(s), isinstance(s, Atomic)) for b in writes(s) if b in self._shared)
        read = frozenset(b for b in reads(s) if b in self._shared)
        if isinstance(s, Move) and s.engine == Engine.ASYNC:
            return Pending(read=read, flying=written)
        return Pending(written, read)


def _conflict(mine: Pending, pending: Pending) -> str:
    """Why a statement with these effects must wait for all threads, or nothing. It never conflicts with its
    own last turn."""
    writing, written = mine.written | mine.flying, pending.written | pending.flying
    own = {who for _, who, _ in writing}
    for b in sorted(mine.read):
        if any(w == b for w, _, _ in written):
            return f"{b} is filled"
    for b, _, atomic in sorted(writing):
        if b in pending.read:
            return f"{b} has been read"
        if any(w == b and who not in own and not (atomic and a) for w, who, a in written):
            return f"{b} is written again"
    return ""
