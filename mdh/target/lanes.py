"""CUDA C++ has vector moves but no vector arithmetic: rewrite the latter to unrolled loops over lanes.

A vector read from memory is moved into registers first and a vector written to memory is moved out of
them, so that the accesses stay wide; what lies between is one statement in a loop the compiler unrolls.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Var, map_children
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Atomic, Buf, For, ForKind, If, Kernel, Let, Move, Stmt, Store, While
from mdh.target.names import declared

Bufs = Mapping[str, Buf]


def without_vectors(kernel: Kernel) -> Kernel:
    """The same kernel, in which only Moves have lanes."""
    rewriter = _LaneRewriter({b.name: b for b in (*kernel.buffers, *kernel.constants)}, set(declared(kernel)))
    return replace(kernel, body=rewriter.body(kernel.body))


def scalars(buf: Buf) -> Buf:
    """A register buffer of vectors as one of scalars, with the lane as its last dimension."""
    if buf.lanes == 1:
        return buf
    strides = (*(s * buf.lanes for s in buf.strides), 1)
    return replace(buf, shape=(*buf.shape, buf.lanes), strides=strides, lanes=1)


class _LaneRewriter:
    """Walks a kernel once; `bufs` are the buffers declared so far, as the kernel's text declared them."""

    def __init__(self, bufs: Bufs, names: set[str]) -> None:
        self.bufs = dict(bufs)
        self.names = names
        self.lane_name = self.unused("v")

    def unused(self, stem: str) -> str:
        name, n = stem, 2
        while name in self.names:
            name, n = f"{stem}{n}", n + 1
        self.names.add(name)
        return name

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(out for s in body for out in self.statement(s))

    def statement(self, s: Stmt) -> Iterator[Stmt]:
        match s:
            case Alloc(buf, init):
                self.bufs[buf.name] = buf
                yield Alloc(scalars(buf), init)
            case Store() if self.lanes(s) > 1:
                yield from self.vector_store(s, self.lanes(s))
            case Store():
                yield replace(s, index=self.all(s.index), value=self.scalar(s.value))
            case Let():
                yield replace(s, value=self.scalar(s.value))
            case Atomic():
                yield replace(s, index=self.all(s.index), value=self.scalar(s.value))
            case Move():
                yield self.move(s)
            case For():
                yield replace(s, body=self.body(s.body))
            case While():
                yield replace(s, cond=self.scalar(s.cond), body=self.body(s.body))
            case If():
                yield If(self.scalar(s.cond), self.body(s.then), self.body(s.orelse))
            case _:
                yield s

    def lanes(self, s: Store) -> int:
        return max(s.lanes, self.bufs[s.buffer].lanes)

    def all(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(self.scalar(i) for i in index)

    def move(self, s: Move) -> Move:
        dst = (*s.dst_index, Const(0, I32)) if self.bufs[s.dst].lanes > 1 else s.dst_index
        src = (*s.src_index, Const(0, I32)) if self.bufs[s.src].lanes > 1 else s.src_index
        lanes = max(s.lanes, self.bufs[s.dst].lanes, self.bufs[s.src].lanes)
        return replace(s, dst_index=dst, src_index=src, lanes=lanes)

    def vector_store(self, s: Store, lanes: int) -> Iterator[Stmt]:
        before: list[Stmt] = []
        v = Var(self.lane_name)
        value = self.lane(s.value, v, before)
        target = self.bufs[s.buffer]
        after: tuple[Stmt, ...] = ()
        if target.space is Space.RM:
            inner = Store(s.buffer, self.at_lane(target, s.index, v), value)
        else:
            temp = self.temporary(target, lanes)
            before.append(Alloc(temp))
            inner = Store(temp.name, (v,), value)
            after = (Move(s.buffer, s.index, temp.name, (Const(0, I32),), lanes, cache=s.cache),)
        yield from before
        yield For(self.lane_name, Const(0, I32), Const(lanes, I32), Const(1, I32), (inner,), ForKind.UNROLL)
        yield from after

    def temporary(self, like: Buf, lanes: int) -> Buf:
        name = self.unused(f"{like.name}_v")
        buf = Buf(name, Space.RM, like.dtype, (lanes,), (1,))
        self.bufs[name] = buf
        return buf

    def at_lane(self, buf: Buf, index: tuple[Expr, ...], lane: Expr) -> tuple[Expr, ...]:
        """The index of one lane: the last dimension of a vector buffer, else along the dense dimension."""
        if buf.lanes > 1:
            return (*index, lane)
        dense = max(d for d, stride in enumerate(buf.strides) if stride == 1)
        return tuple(Binary("+", i, lane, I32) if d == dense else i for d, i in enumerate(index))

    def lane(self, e: Expr, lane: Expr, before: list[Stmt]) -> Expr:
        """One lane of a vector expression; reads from memory are appended to `before` as wide moves."""
        match e:
            case Load(buffer, index, dtype, lanes):
                buf = self.bufs[buffer]
                if max(lanes, buf.lanes) == 1:
                    return self.scalar(e)
                if buf.space is Space.RM:
                    return Load(buffer, self.at_lane(buf, index, lane), dtype)
                return Load(self.moved(e, buf, before), (lane,), dtype)
            case Call(Intrinsic.IOTA, _, dtype):
                return lane if dtype == I32 else Cast(lane, dtype)
            case _:
                return map_children(e, lambda c: self.lane(c, lane, before))

    def moved(self, e: Load, buf: Buf, before: list[Stmt]) -> str:
        """The registers that the vector is read into, once a statement."""
        for s in before:
            if isinstance(s, Move) and (s.src, s.src_index, s.lanes) == (e.buffer, e.index, e.lanes):
                return s.dst
        temp = self.temporary(buf, e.lanes)
        before += (Alloc(temp), Move(temp.name, (Const(0, I32),), e.buffer, e.index, e.lanes))
        return temp.name

    def scalar(self, e: Expr) -> Expr:
        """A scalar expression; `lane(vector, k)` picks its element where it lies."""
        match e:
            case Call(Intrinsic.LANE, (vector, k), _):
                return self.picked(vector, k)
            case _:
                return map_children(e, self.scalar)

    def picked(self, e: Expr, lane: Expr) -> Expr:
        match e:
            case Load(buffer, index, dtype, lanes):
                buf = self.bufs[buffer]
                one = max(lanes, buf.lanes) == 1
                return e if one else Load(buffer, self.at_lane(buf, index, lane), dtype)
            case _:
                return map_children(e, lambda c: self.picked(c, lane))
