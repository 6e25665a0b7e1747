"""How a warp's accesses to shared memory map to its banks, read from the lowered kernel.

The first warp of a block runs the kernel's index arithmetic once, with each loop in its first iteration.
There are 32 banks of 4 bytes. Accesses of 8 and 16 bytes a lane are served in halves and quarters of a warp.
Lanes that read the same word are served together. Source: CUDA C++ Programming Guide, shared memory of
compute capability 5.0 on.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mdh.cost.gpu import WORD
from mdh.cost.warp import BANKS, served, words_of
from mdh.hardware import Space
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, walk
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Atomic, Buf, For, If, Kernel, Let, Move, Stmt, Store, swizzle_row
from mdh.ir.walk import expressions

LANES = 32
_BLOCK = 0
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "^": operator.xor, "&": operator.and_,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne, "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b),
}  # fmt: skip


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
    walker.run(kernel.body, {}, tuple(range(min(LANES, walker.threads))))
    return tuple(dict.fromkeys(walker.found))


Lets = dict[str, tuple[int | None, ...]]
"""The value of every integer of the text in each lane; None if it is data."""


@dataclass
class _Warp:
    kernel: Kernel
    found: list[BankAccess] = field(default_factory=list)
    bufs: dict[str, Buf] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        x, y, z = self.kernel.launch.block
        return x * y * z

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
                    then = tuple(n for n in lanes if holds[n] != 0)
                    orelse = tuple(n for n in lanes if holds[n] == 0)
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
            where = [self.values(i, lets) for i in index]
            offsets = [self.byte(buf, [w[n] for w in where]) if n in lanes else None for n in range(LANES)]
            if any(offsets[n] is None for n in lanes):
                continue
            first = min(o for o in offsets if o is not None) // (BANKS * WORD) * BANKS * WORD
            aligned = tuple(None if o is None else o - first for o in offsets)
            self.found.append(BankAccess(name, store, width * buf.dtype.bytes, aligned))

    def byte(self, buf: Buf, index: list[int | None]) -> int | None:
        at = 0
        for i, stride in zip(index, buf.strides, strict=True):
            if i is None:
                return None
            at += i * stride
        if buf.swizzle:
            size = buf.dtype.bytes
            at ^= at // swizzle_row(buf) % (buf.swizzle // 16) * (16 // size)
        return at * buf.dtype.bytes

    def values(self, e: Expr, lets: Lets) -> tuple[int | None, ...]:
        return tuple(self.value(e, lets, n) for n in range(LANES))

    def value(self, e: Expr, lets: Lets, lane: int) -> int | None:
        match e:
            case Const(int() as value, _):
                return value
            case Var(name, _):
                return lets[name][lane] if name in lets else None
            case Cast(arg, dtype):
                return None if dtype.is_float else self.value(arg, lets, lane)
            case Call(Intrinsic.THREAD_ID, (Const(int() as axis), *_), _):
                return self.thread(lane)[axis]
            case Call(Intrinsic.BLOCK_ID | Intrinsic.CLUSTER_RANK, _, _):
                return _BLOCK
            case Call(Intrinsic.IMIN | Intrinsic.IMAX as fn, (left, right), _):
                a, b = self.value(left, lets, lane), self.value(right, lets, lane)
                return None if a is None or b is None else (min if fn == Intrinsic.IMIN else max)(a, b)
            case Unary("-", arg, _):
                inner = self.value(arg, lets, lane)
                return None if inner is None else -inner
            case Select(cond, then, other, _):
                test = self.value(cond, lets, lane)
                return None if test is None else self.value(then if test else other, lets, lane)
            case Binary(op, left, right, dtype) if not dtype.is_float:
                return _binary(op, self.value(left, lets, lane), self.value(right, lets, lane))
            case _:
                return None

    def thread(self, linear: int) -> tuple[int, int, int]:
        x, y, _ = self.kernel.launch.block
        return linear % x, linear // x % y, linear // (x * y)


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


def _binary(op: str, a: int | None, b: int | None) -> int | None:
    if a is None or b is None or (op in "/%" and b == 0):
        return None
    if op in "/%":
        # C rounds towards 0
        quotient = abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))
        return quotient if op == "/" else a - quotient * b
    return int(_BINARY[op](a, b)) if op in _BINARY else None
