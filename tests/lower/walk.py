"""Runs one thread of a kernel along its indices, with C's types, and says where int overflows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from mdh.hardware import Space
from mdh.ir.dtype import I32, I64, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, loads
from mdh.ir.kernel import Alloc, Atomic, Buf, For, If, Kernel, Let, Move, Stmt, Store
from mdh.ir.ranges import Known
from mdh.ir.walk import expressions
from mdh.target.offset import counter_type, offset

Value = tuple[int, int]
"""An integer and the bits of its C type."""

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if a >= 0 else -(-a // b), "%": lambda a, b: a % b if a >= 0 else -(-a % b),
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "&": lambda a, b: a & b, "^": lambda a, b: a ^ b,
    "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b),
}  # fmt: skip


@dataclass
class Walk:
    """One thread's path. Loops run their first and last turns; data is any number below `data`."""

    kernel: Kernel
    random: Random
    data: int
    ends: bool
    """The last block and thread, else any."""
    touched: int = 0
    greatest: int = 0
    names: dict[str, Value] = field(default_factory=dict)
    bufs: dict[str, Buf] = field(default_factory=dict)
    units: dict[tuple[str, int], int] = field(default_factory=dict)

    def run(self) -> None:
        self.bufs = {b.name: b for b in self.kernel.buffers}
        self.body(self.kernel.body, Known(self.kernel.launch))

    def body(self, body: tuple[Stmt, ...], known: Known) -> None:
        for s in body:
            self.accesses(s, known)
            match s:
                case Alloc(buf, _):
                    self.bufs[buf.name] = buf
                case Let() if not s.dtype.is_float:
                    self.names[s.name] = self.stored(self.value(s.value)[0], s.dtype)
                case If():
                    self.body(s.then if self.value(s.cond)[0] else s.orelse, known)
                case For():
                    self.loop(s, known)
            if isinstance(s, Let):
                known = known.after(s)

    def loop(self, s: For, known: Known) -> None:
        start, stop, step = (self.value(e)[0] for e in (s.start, s.stop, s.step))
        turns = range(start, stop, step)
        dtype = counter_type(s.start, s.stop, s.step)
        for turn in dict.fromkeys((turns[0], turns[-1])) if turns else ():
            self.names[s.var] = self.stored(turn, dtype)
            self.body(s.body, known.within_loop(s))
        if turns:
            self.stored(turns[-1] + step, dtype)

    def stored(self, n: int, dtype: DType) -> Value:
        assert -(2 ** (dtype.bits - 1)) <= n < 2 ** (dtype.bits - 1), f"{n} does not fit {dtype}"
        return n, dtype.bits

    def accesses(self, s: Stmt, known: Known) -> None:
        """Every element of device memory that the statement itself reads or writes exists."""
        places = [(n.buffer, n.index) for e in expressions(s) for n in loads(e)]
        match s:
            case Store() | Atomic():
                places.append((s.buffer, s.index))
            case Move() if s.pred is None or self.value(s.pred)[0]:
                places += [(s.dst, s.dst_index), (s.src, s.src_index)]
        for name, index in places:
            buf = self.bufs[name]
            if (buf.space is Space.DM and not isinstance(s, If | Let)) or buf.space is Space.DM:
                at = self.value(offset(buf, index, known))[0]
                assert 0 <= at < buf.elements, f"{name}[{at}] of {buf.elements}"
                self.touched += 1
                self.greatest = max(self.greatest, at)

    def value(self, e: Expr) -> Value:
        if e.dtype.is_float:
            return self.random.randrange(self.data), 32
        match e:
            case Const(value, dtype):
                return int(value), 64 if dtype == I64 else 32
            case Var(name, _):
                return self.names[name]
            case Load():
                return self.random.randrange(self.data), 32
            case Call("block_id" | "thread_id" as what, (Const(int() as axis), *_), _):
                shape = self.kernel.launch.grid if what == "block_id" else self.kernel.launch.block
                last = shape[axis] - 1
                at = self.units.setdefault((what, axis), last if self.ends else self.random.randint(0, last))
                return at, 32
            case Call("imin" | "imax" as fn, (a, b), _):
                x, y = self.value(a), self.value(b)
                assert x[1] == y[1], "two types, no overload"
                return (min if fn == "imin" else max)(x[0], y[0]), x[1]
            case Call("shfl_xor", (arg, *_), _):
                return self.value(arg)
            case Cast(arg, dtype):
                return self.stored(self.value(arg)[0], dtype)
            case Unary("-", arg, _):
                n, bits = self.value(arg)
                return self.stored(-n, I64 if bits == 64 else I32)
            case Select(cond, then, other, _):
                return self.value(then if self.value(cond)[0] else other)
            case Binary(op, left, right, _):
                a, b = self.value(left), self.value(right)
                return self.stored(int(OPERATIONS[op](a[0], b[0])), I64 if 64 in (a[1], b[1]) else I32)
            case _:
                raise AssertionError(e)
