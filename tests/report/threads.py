"""Runs a lowered kernel thread by thread and notes which elements of the program's arrays each one uses.

Cells of memory hold, instead of numbers, the elements that went into them. An element is used by the thread
that stores a result made of it, or hands it to other threads; not by one that copies it for others, nor by
one that computes what nobody stores (points past an edge). Integers of index arithmetic are computed; data
are unknown, and both sides of what depends on them run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from mdh.hardware import Space
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, children
from mdh.ir.kernel import Alloc, Atomic, Barrier, Buf, For, If, Kernel, Let, Move, Stmt, Store, While

Element = tuple[str, int]
"""A program array and the row-major number of an element."""
Units = tuple[tuple[str, int], ...]
Uses = tuple["Element | Uses", ...]
"""A tree, so that sums grow by a node at a time."""
TURNS = 10_000


@dataclass(frozen=True, slots=True)
class Value:
    """number: of an integer that is no data; copies: elements, lane by lane, that it is a copy of; uses: of
    what it was computed."""

    number: int | None = None
    copies: tuple[Element | None, ...] = ()
    uses: Uses = ()

    @property
    def all(self) -> Uses:
        own = tuple(e for e in self.copies if e is not None)
        return (*own, self.uses) if own and self.uses else own or self.uses


@dataclass
class Trace:
    """used[units] and stored[units]: the elements; units: the coordinates of the thread, by level."""

    kernel: Kernel
    arrays: frozenset[str]
    levels: frozenset[str]
    used: dict[Units, set[Element]] = field(default_factory=dict)
    stored: dict[Units, set[Element]] = field(default_factory=dict)
    device: dict[Element, Value] = field(default_factory=dict)

    def run(self) -> None:
        gx, gy, gz = self.kernel.launch.grid
        bx, by, bz = self.kernel.launch.block
        for z, y, x in product(range(gz), range(gy), range(gx)):
            shared: dict[Element, Value] = {}
            threads = [
                _Thread(self, (x, y, z), (i, j, k), shared).start()
                for k, j, i in product(range(bz), range(by), range(bx))
            ]
            while threads:  # from barrier to barrier
                threads = [t for t in threads if next(t, None) is not None]


@dataclass
class _Thread:
    trace: Trace
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    shared: dict[Element, Value]
    own: dict[Element, Value] = field(default_factory=dict)
    env: dict[str, Value] = field(default_factory=dict)
    bufs: dict[str, Buf] = field(default_factory=dict)

    def start(self) -> Iterator[bool]:
        self.bufs = {b.name: b for b in self.trace.kernel.buffers}
        return self.body(self.trace.kernel.body)

    def body(self, body: tuple[Stmt, ...]) -> Iterator[bool]:
        for s in body:
            match s:
                case Barrier():
                    yield True
                case Alloc(buf, init):
                    self.bufs[buf.name] = buf
                    if init is not None:
                        number = self.value(init)
                        for n in range(buf.elements * buf.lanes):
                            self.own[buf.name, n] = number
                case Let(name, value):
                    self.env[name] = self.value(value)
                case For():
                    turn, stop = self.value(s.start).number, self.value(s.stop).number
                    while turn < stop:
                        self.env[s.var] = Value(turn)
                        yield from self.body(s.body)
                        turn += self.value(s.step).number  # the variable itself doubles in Hilbert's curve
                case If():
                    cond = self.value(s.cond)
                    self.use(cond)
                    test = cond.number
                    if test != 0:
                        yield from self.body(s.then)
                    if not test:
                        yield from self.body(s.orelse)
                case While():
                    turns = 0
                    while self.value(s.cond).number and turns < TURNS:
                        turns += 1
                        yield from self.body(s.body)
                case Store():
                    self.store(s.buffer, s.index, self.value(s.value), s.lanes)
                case Move():
                    self.move(s)
                case Atomic():
                    self.atomic(s)
                case _:
                    pass

    # -- memory --------------------------------------------------------------------------------------------

    def place(self, name: str, index: tuple[Expr, ...], lanes: int) -> list[Element]:
        buf, at = self.bufs[name], 0
        for i, stride in zip(index, buf.strides, strict=True):
            at += (self.value(i).number or 0) * stride
        return [(name, at * buf.lanes + n) for n in range(max(lanes, buf.lanes))]

    def cells(self, name: str) -> dict[Element, Value]:
        return {Space.DM: self.trace.device, Space.SM: self.shared, Space.RM: self.own}[self.bufs[name].space]

    def load(self, e: Load) -> Value:
        places, cells = self.place(e.buffer, e.index, e.lanes), self.cells(e.buffer)
        subscripts = tuple(u for i in e.index for u in self.value(i).all)
        if e.buffer in self.trace.arrays:
            return Value(0 if not e.dtype.is_float else None, tuple(places), subscripts)
        found = [cells.get(p, Value()) for p in places]
        if len(found) == 1:
            return found[0]
        uses = tuple(v.uses for v in found if v.uses)
        return Value(None, tuple(v.copies[0] if v.copies else None for v in found), uses)

    def store(self, name: str, index: tuple[Expr, ...], value: Value, lanes: int) -> None:
        places, cells = self.place(name, index, lanes), self.cells(name)
        if name in self.trace.arrays:
            self.note(self.trace.stored, places)
        staged = name.rpartition("_SM")[0] in self.trace.arrays
        # what threads hand to one another is a result
        if self.bufs[name].space is Space.DM or (self.bufs[name].space is Space.SM and not staged):
            for v in (value, *map(self.value, index)):
                self.use(v)
            value = Value(value.number)
        for n, p in enumerate(places):
            one = value if len(places) == 1 else replace(value, copies=value.copies[n : n + 1])
            cells[p] = one

    def move(self, s: Move) -> None:
        cells = self.cells(s.dst)
        if s.pred is not None and not self.value(s.pred).number:
            for p in self.place(s.dst, s.dst_index, s.lanes):
                cells[p] = Value()
            return
        dtype = self.bufs[s.src].dtype
        self.store(s.dst, s.dst_index, self.load(Load(s.src, s.src_index, dtype, s.lanes)), s.lanes)

    def atomic(self, s: Atomic) -> None:
        value = self.value(s.value)
        for v in (value, *map(self.value, s.index)):
            self.use(v)
        (place,), cells = self.place(s.buffer, s.index, 1), self.cells(s.buffer)
        if s.buffer in self.trace.arrays:
            self.note(self.trace.stored, [place])
        old = cells.get(place, Value(0)).number
        if s.result is not None:
            self.env[s.result] = Value(old)
        cells[place] = Value(None if old is None or value.number is None else old + value.number)

    # -- what a thread does with it ------------------------------------------------------------------------

    def note(self, table: dict[Units, set[Element]], elements: list[Element]) -> None:
        if not elements:
            return
        units = tuple((n, v.number or 0) for n, v in sorted(self.env.items()) if n in self.trace.levels)
        table.setdefault(units, set()).update(elements)

    def use(self, value: Value) -> None:
        found, left, seen = [], [value.all], set()
        while left:  # parts of the tree are shared: a prefix is part of the next
            node = left.pop()
            if len(node) == 2 and isinstance(node[0], str):
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                left.extend(node)
        self.note(self.trace.used, found)

    def value(self, e: Expr) -> Value:
        match e:
            case Const(int() as number, _):
                return Value(number)
            case Var(name, _):
                return self.env.get(name, Value())
            case Load():
                return self.load(e)
            case Call("block_id" | "thread_id" as fn, (Const(int() as axis), *_), _):
                return Value((self.block if fn == "block_id" else self.thread)[axis])
            case Call("lane", (vector, Const(int() as n)), _):
                found = self.value(vector)
                return Value(None, found.copies[n : n + 1], found.uses)
            case Cast(arg, dtype) if not dtype.is_float and not arg.dtype.is_float:
                return self.value(arg)
            case Select(cond, then, other, _):
                test = self.value(cond)
                if test.number is not None:
                    return self.value(then if test.number else other)
                return Value(uses=(test.all, self.value(then).all, self.value(other).all))
            case _:
                return self.computed(e)

    def computed(self, e: Expr) -> Value:
        found = [self.value(child) for child in children(e)]
        uses = tuple(v.all for v in found if v.all)
        if isinstance(e, Call) and e.fn.startswith("shfl"):
            self.use(Value(uses=uses))
            return Value()
        numbers = [v.number for v in found if v.number is not None]
        if e.dtype.is_float or len(numbers) < len(found) or uses:
            return Value(uses=uses)
        return Value(_number(e, numbers))


def _number(e: Expr, found: list[int]) -> int | None:
    match e:
        case Unary("-", _, _):
            return -found[0]
        case Unary("!", _, _):
            return int(not found[0])
        case Binary(op, _, _, _) if op in _OPERATIONS:
            a, b = found
            return int(_OPERATIONS[op](a, b))
        case Call("imin" | "imax" as fn, _, _):
            return min(found) if fn == "imin" else max(found)
        case _:
            return None


def _quotient(a: int, b: int) -> int:
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else 0


_OPERATIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b), "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b), "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b, "|": lambda a, b: a | b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
}  # fmt: skip


def by_thread(kernel: Kernel, arrays: Mapping[str, object], levels: frozenset[str]) -> Trace:
    trace = Trace(kernel, frozenset(arrays), levels)
    trace.run()
    return trace
