"""How a warp's accesses to shared memory map to its banks, read from the lowered kernel.

The first warp of a block runs the kernel's index arithmetic once, with each loop in its first iteration.
There are 32 banks of 4 bytes. Accesses of 8 and 16 bytes a lane are served in halves and quarters of a warp.
Lanes that read the same word are served together. Source: CUDA C++ Programming Guide, shared memory of
compute capability 5.0 on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from mdh.cost.gpu import WORD
from mdh.cost.warp import BANKS, served, words_of
from mdh.hardware import Space
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var, map_children, walk
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Atomic, Buf, For, If, Kernel, Let, Move, Stmt, Store, swizzle_row
from mdh.ir.walk import expressions
from mdh.reference.exact import CArithmetic
from mdh.reference.expression import EvaluationScope, value_of
from mdh.reference.numbers import Array

LANES = 32


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One access of a warp. offsets[l]: byte of lane l; None if the lane does not take part. width: bytes a
    lane. groups: lanes that are served together. turns: how often a bank is accessed, over all groups. best:
    the same without conflicts."""

    buffer: str
    store: bool
    width: int
    offsets: tuple[int | None, ...]

    @property
    def groups(self) -> tuple[range, ...]:
        return served(LANES, self.width)

    def words(self, group: range) -> dict[int, dict[int, list[int]]]:
        """bank -> word -> lanes that access it."""
        out: dict[int, dict[int, list[int]]] = {}
        for lane in group:
            at = self.offsets[lane]
            for word in words_of(at, self.width) if at is not None else ():
                out.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
        return out

    @property
    def turns(self) -> int:
        """How often the bank that is asked most has to answer, all groups together."""
        return sum(max(map(len, self.words(g).values()), default=0) for g in self.groups)

    @property
    def best(self) -> int:
        """The same if no two lanes of a group met in a bank."""
        return sum(bool(self.words(g)) for g in self.groups)


def bank_accesses(kernel: Kernel) -> tuple[BankAccess, ...]:
    """The different accesses to shared memory in the order of the text, without those whose place is data."""
    walker = _Warp(kernel)
    walker.run(kernel.body, {}, tuple(range(min(LANES, prod(kernel.launch.block)))))
    return tuple(dict.fromkeys(walker.found))


Lets = dict[str, Array | None]
"""The value of every integer of the text in each lane; None if it is data."""


@dataclass
class _Warp:
    kernel: Kernel
    found: list[BankAccess] = field(default_factory=list)
    bufs: dict[str, Buf] = field(default_factory=dict)

    @cached_property
    def threads(self) -> Lets:
        """The coordinates of each lane's thread in the block."""
        x, y, _ = self.kernel.launch.block
        linear = np.arange(LANES)
        return {"thread 0": linear % x, "thread 1": linear // x % y, "thread 2": linear // (x * y)}

    def run(self, body: tuple[Stmt, ...], lets: Lets, lanes: tuple[int, ...]) -> None:
        for s in body:
            self.note(s, lets, lanes)
            match s:
                case Alloc(buf, _):
                    self.bufs[buf.name] = buf
                case Let(name, value):
                    lets = {**lets, name: self.values(value, lets)}
                case For():
                    self.run(s.body, {**lets, s.var: self.values(s.start, lets)}, lanes)
                case If():
                    holds = self.values(s.cond, lets)
                    then = tuple(n for n in lanes if holds is None or holds[n] != 0)
                    orelse = tuple(n for n in lanes if holds is not None and holds[n] == 0)
                    for side, mine in ((s.then, then), (s.orelse, orelse)):
                        if mine:
                            self.run(side, lets, mine)
                case _:
                    pass

    def note(self, s: Stmt, lets: Lets, lanes: tuple[int, ...]) -> None:
        for name, index, store, width in _places(s):
            buf = self.bufs.get(name)
            if buf is None or buf.space is not Space.SM:
                continue
            where = [at for i in index if (at := self.values(i, lets)) is not None]
            if len(where) < len(index):
                continue
            at = _bytes(buf, where)
            offsets = tuple(int(at[n]) if n in lanes else None for n in range(LANES))
            first = min(o for o in offsets if o is not None) // (BANKS * WORD) * BANKS * WORD
            aligned = tuple(None if o is None else o - first for o in offsets)
            self.found.append(BankAccess(name, store, width * buf.dtype.bytes, aligned))

    def values(self, e: Expr, lets: Lets) -> Array | None:
        """Its value in each lane; None if it is data, a float among them."""
        plain = _by_lane(e)
        nodes = tuple(walk(plain))
        names = {n.name: n.dtype for n in nodes if isinstance(n, Var)}
        known = {**self.threads, **lets}
        if any(known.get(name) is None for name in names) or any(_is_data(n) for n in nodes):
            return None
        held = {name: array for name in names if (array := known[name]) is not None}
        return np.broadcast_to(value_of(plain, EvaluationScope(CArithmetic(), held, names, {})), (LANES,))


def _bytes(buf: Buf, index: list[Array]) -> Array:
    """The place of an element in its buffer."""
    at = np.zeros(LANES, np.int64)
    for i, stride in zip(index, buf.strides, strict=True):
        at = at + i * stride
    if buf.swizzle:
        at = at ^ at // swizzle_row(buf) % (buf.swizzle // 16) * (16 // buf.dtype.bytes)
    return at * buf.dtype.bytes


def _by_lane(e: Expr) -> Expr:
    """The expression with a name for each coordinate of a thread, in the first block."""
    match e:
        case Call(Intrinsic.THREAD_ID, (Const(axis), *_), dtype):
            return Var(f"thread {axis}", dtype)
        case Call(Intrinsic.BLOCK_ID | Intrinsic.CLUSTER_RANK, _, dtype):
            return Const(0, dtype)
        case Call(Intrinsic.IMIN | Intrinsic.IMAX as fn, (left, right), dtype):
            less = Binary("<" if fn is Intrinsic.IMIN else ">", left, right, dtype)
            return _by_lane(Select(less, left, right, dtype))
        case _:
            return map_children(e, _by_lane)


def _is_data(e: Expr) -> bool:
    return isinstance(e, Load | Call) or e.dtype.is_float


def _places(s: Stmt) -> Iterator[tuple[str, tuple[Expr, ...], bool, int]]:
    """(buffer, index, store, elements a lane) of the statement's own accesses."""
    match s:
        case Move():
            yield s.src, s.src_index, False, s.lanes
            yield s.dst, s.dst_index, True, s.lanes
        case Store() | Atomic():
            yield s.buffer, s.index, True, s.lanes
        case _:
            pass
    for e in expressions(s):
        for node in walk(e):
            if isinstance(node, Load):
                yield node.buffer, node.index, False, node.lanes
