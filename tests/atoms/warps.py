"""A small interpreter of kernel IR: the warps of a block run one after another between barriers, in an order
that a seed draws, each with its 32 lanes in step.

Asynchronous copies land as late as they may: at the wait that says that they have. Registers and shared
memory begin as NaN or as a large number, so that what is read before it is written shows in the result.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import prod

import ml_dtypes
import numpy as np

from mdh.hardware import Engine, Space
from mdh.ir.atoms import Fragment
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    Barrier,
    Buf,
    Comment,
    Commit,
    For,
    If,
    Kernel,
    Let,
    Module,
    Move,
    Stmt,
    Store,
    Wait,
    swizzle_row,
)
from mdh.ir.matrix import LoadMatrix, Mma
from mdh.ir.walk import statements

LANES = 32
POISON = 77
NUMPY = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64}
Array = np.ndarray


def numpy_type(t: DType) -> np.dtype:
    known = NUMPY.get(t.name)
    return np.dtype(known if known is not None else t.name.replace("i", "int").replace("u", "uint"))


def poisoned(size: int, t: DType) -> Array:
    kind = numpy_type(t)
    return np.full(size, np.nan if t.is_float else POISON, kind)


def run(
    module: Module, arrays: Mapping[str, Array], scalars: Mapping[str, float] = {}, seed: int = 0
) -> None:
    """Runs all kernels; `arrays` by name are changed in place."""
    memory = {name: a.reshape(-1) for name, a in arrays.items()}
    for w in module.workspaces:
        memory[w.buf.name] = poisoned(w.buf.elements, w.buf.dtype)
        if w.zero:
            memory[w.buf.name][:] = 0
    order = random.Random(seed)
    for kernel in module.kernels:
        for block in product(*(range(n) for n in kernel.launch.grid)):
            _block(kernel, block, memory, dict(scalars), order)


def _block(
    kernel: Kernel, block: tuple[int, ...], memory: dict[str, Array], scalars: dict[str, float],
    order: random.Random,
) -> None:  # fmt: skip
    bufs = {b.name: b for b in kernel.buffers}
    shared = {}
    for s in statements(kernel.body):
        if isinstance(s, Alloc) and s.buf.space is Space.SM:
            bufs[s.buf.name] = s.buf
            shared[s.buf.name] = poisoned(-(-s.buf.elements // 128) * 128, s.buf.dtype)
    threads = prod(kernel.launch.block)
    warps = []
    for first in range(0, threads, LANES):
        warp = _Warp(kernel, block, first, min(LANES, threads - first), {**memory, **shared}, dict(bufs))
        warp.names.update(scalars)
        warps.append(warp.body(kernel.body, np.ones(warp.lanes, bool)))
    running = list(warps)
    while running:
        order.shuffle(running)
        ended = [w for w in running if next(w, None) is None]
        assert not ended or len(ended) == len(running), "a barrier that only some warps reach"
        running = [w for w in running if w not in ended]


@cache
def _places(fragment: Fragment) -> tuple[Array, Array]:
    """Rows and columns of the elements, by lane and number."""
    at = np.array([[fragment.at(lane, v) for v in range(fragment.count)] for lane in range(LANES)])
    return at[..., 0], at[..., 1]


@dataclass
class _Warp:
    kernel: Kernel
    block: tuple[int, ...]
    first: int
    lanes: int
    memory: dict[str, Array]
    bufs: dict[str, Buf]
    names: dict[str, object] = field(default_factory=dict)
    groups: list[list[tuple[Array, Array, Array]]] = field(default_factory=list)
    open: list[tuple[Array, Array, Array]] = field(default_factory=list)
    registers: dict[str, Array] = field(default_factory=dict)

    def body(self, body: tuple[Stmt, ...], mask: Array) -> Iterator[str]:
        """Yields at every barrier."""
        for s in body:
            match s:
                case Comment():
                    pass
                case Alloc(buf, init):
                    if buf.space is Space.RM:
                        self.bufs[buf.name] = buf
                        rows = np.stack([poisoned(buf.elements, buf.dtype)] * self.lanes)
                        if init is not None:
                            rows[:] = np.reshape(self.value(init), (-1, 1))
                        self.registers[buf.name] = rows
                case Let(name, value, _):
                    self.names[name] = self.value(value)
                case Store(buffer, index, value, 1):
                    self.write(self.bufs[buffer], index, self.value(value), mask)
                case Move():
                    self.move(s, mask)
                case For(var, start, stop, step, inner):
                    self.names[var] = np.full(self.lanes, self.uniform(start))
                    while self.uniform(Binary("<", Var(var), stop, I32)):
                        yield from self.body(inner, mask)
                        self.names[var] = np.full(self.lanes, self.uniform(Binary("+", Var(var), step, I32)))
                case If(cond, then, orelse):
                    holds = np.broadcast_to(np.asarray(self.value(cond)) != 0, mask.shape)
                    for side, taken in ((then, mask & holds), (orelse, mask & ~holds)):
                        if taken.any():
                            yield from self.body(side, taken)
                case Atomic("+", buffer, index, value, None, 1):
                    at = self.offset(self.bufs[buffer], index)
                    values = np.broadcast_to(np.asarray(self.value(value)), mask.shape)
                    np.add.at(self.memory[buffer], at[mask], values[mask])
                case Atomic("+", buffer, index, Load(held, inside), None, lanes):
                    at, src = self.offset(self.bufs[buffer], index), self.bufs[held]
                    for i in range(lanes):
                        values = self.read(src, self.offset(src, inside) + i)
                        np.add.at(self.memory[buffer], at[mask] + i, values[mask])
                case Barrier(_, reason):
                    assert mask.all(), "a barrier that only some lanes reach"
                    yield reason or "barrier"
                case Commit():
                    self.groups.append(self.open)
                    self.open = []
                case Wait(pending):
                    while len(self.groups) > pending:
                        for to, where, values in self.groups.pop(0):
                            to[where] = values
                case LoadMatrix():
                    assert mask.all()
                    self.load_matrix(s)
                case Mma():
                    assert mask.all()
                    self.mma(s)
                case _:
                    raise NotImplementedError(type(s).__name__)

    # -- memory ----------------------------------------------------------------------------------

    def offset(self, buf: Buf, index: tuple[Expr, ...]) -> Array:
        out = np.zeros(self.lanes, np.int64)
        for e, n in zip(index, buf.strides, strict=True):
            out = out + np.asarray(self.value(e)) * n
        return self.swizzled(buf, out)

    def swizzled(self, buf: Buf, at: Array) -> Array:
        if not buf.swizzle:
            return at
        chunk = 16 // buf.dtype.bytes
        row = at // swizzle_row(buf) % (buf.swizzle // 16)
        return at ^ (row * chunk)

    def read(self, buf: Buf, at: Array, mask: Array | None = None) -> Array:
        if buf.space is Space.RM:
            return self.registers[buf.name][np.arange(self.lanes), at]
        data = self.memory[buf.name]
        inside = (at >= 0) & (at < data.size)
        if mask is None:
            # lanes that a condition leaves out read, too; what they get must not show
            return np.where(inside, data[np.where(inside, at, 0)], poisoned(1, buf.dtype)[0])
        assert inside[mask].all(), f"{buf.name} is read outside"
        return data[np.where(mask, at, 0)]

    def write(self, buf: Buf, index: tuple[Expr, ...], value: object, mask: Array) -> None:
        at = self.offset(buf, index)
        values = np.broadcast_to(np.asarray(value), mask.shape).astype(numpy_type(buf.dtype))
        self.put(buf, at, values, mask)

    def put(self, buf: Buf, at: Array, values: Array, mask: Array) -> None:
        if buf.space is Space.RM:
            self.registers[buf.name][np.arange(self.lanes)[mask], at[mask]] = values[mask]
            return
        data = self.memory[buf.name]
        assert ((at >= 0) & (at < data.size))[mask].all(), f"{buf.name} is written outside"
        data[at[mask]] = values[mask]

    def move(self, s: Move, mask: Array) -> None:
        dst, src = self.bufs[s.dst], self.bufs[s.src]
        taken = mask if s.pred is None else mask & (np.asarray(self.value(s.pred)) != 0)
        fill = 0 if s.fill is None else self.value(s.fill)
        to, frm = self.offset(dst, s.dst_index), self.offset(src, s.src_index)
        assert (to[mask] % s.lanes == 0).all() or dst.space is Space.RM, f"{s.dst} is not aligned"
        assert (frm[taken] % s.lanes == 0).all() or src.space is Space.RM, f"{s.src} is not aligned"
        for i in range(s.lanes):
            values = np.where(taken, self.read(src, frm + i, taken), fill).astype(numpy_type(dst.dtype))
            wide = s.lanes * src.dtype.bytes
            if s.engine is Engine.ASYNC and dst.space is Space.SM and wide in (4, 8, 16):
                self.open.append((self.memory[dst.name], (to + i)[mask], values[mask]))
            else:
                self.put(dst, to + i, values, mask)

    def load_matrix(self, s: LoadMatrix) -> None:
        src = self.bufs[s.src]
        at = self.offset(src, s.index)
        per = 16 // src.dtype.bytes
        data = self.memory[s.src]
        for r, place in enumerate(s.dst):
            rows_end = at[8 * r : 8 * r + 8].max() + per
            assert rows_end <= src.elements, f"ldmatrix: {s.src} is read past its end, at {rows_end}"
            rows = np.stack([data[x : x + per] for x in at[8 * r : 8 * r + 8]])
            assert (at[8 * r : 8 * r + 8] % per == 0).all(), "ldmatrix: a row is not aligned"
            half = rows.view(np.uint16)
            half = half.T.copy() if s.transposed else half
            words = half.reshape(32, 2).copy().view(np.uint32).reshape(32)
            buf = self.bufs[place.buffer]
            self.put(buf, self.offset(buf, place.index), words, np.ones(self.lanes, bool))

    def mma(self, s: Mma) -> None:
        atom = s.atom
        sides = []
        for places, fragment, t in ((s.a, atom.a, atom.left), (s.b, atom.b, atom.right)):
            held = np.stack([self.value(p) for p in places], axis=1)
            held = held.copy().view(numpy_type(t)) if atom.packed > 1 else held
            rows, columns = (atom.m, atom.k) if places is s.a else (atom.k, atom.n)
            matrix = np.zeros((rows, columns), numpy_type(t))
            matrix[_places(fragment)] = held
            sides.append(matrix.astype(np.float64 if t.is_float else np.int64))
        total = (sides[0] @ sides[1]).astype(numpy_type(atom.acc))
        parts = total[_places(atom.c)]
        for v, place in enumerate(s.acc):
            buf = self.bufs[place.buffer]
            at = self.offset(buf, place.index)
            self.put(buf, at, self.read(buf, at) + parts[:, v], np.ones(self.lanes, bool))

    # -- values ----------------------------------------------------------------------------------

    def uniform(self, e: Expr) -> int:
        found = np.unique(np.asarray(self.value(e)))
        assert found.size == 1, "a loop whose bounds differ among lanes"
        return int(found[0])

    def value(self, e: Expr) -> object:
        match e:
            case Const(value, _):
                return value
            case Var(name, _):
                return self.names[name]
            case Load(buffer, index, dtype, 1):
                buf = self.bufs[buffer]
                read = self.read(buf, self.offset(buf, index))
                return read.astype(np.float32) if dtype.name in ("bf16", "f16") else read
            case Cast(arg, dtype):
                value = np.asarray(self.value(arg)).astype(numpy_type(dtype))
                return value.astype(np.float32) if dtype.name in ("bf16", "f16") else value
            case Unary("-", arg, _):
                return -np.asarray(self.value(arg))
            case Unary("!", arg, _):
                return np.asarray(self.value(arg)) == 0
            case Select(cond, then, other, _):
                return np.where(np.asarray(self.value(cond)) != 0, self.value(then), self.value(other))
            case Call(Intrinsic.BLOCK_ID, (Const(axis, _),), _):
                return np.full(self.lanes, self.block[axis])
            case Call(Intrinsic.THREAD_ID, (Const(axis, _),), _):
                x, y, _ = self.kernel.launch.block
                tid = self.first + np.arange(self.lanes)
                return (tid % x, tid // x % y, tid // x // y)[axis]
            case Call(Intrinsic.IMIN, (a, b), _):
                return np.minimum(self.value(a), self.value(b))
            case Call("fmax", (a, b), _):
                return np.fmax(self.value(a), self.value(b))
            case Binary(op, left, right, dtype):
                return self.binary(op, np.asarray(self.value(left)), np.asarray(self.value(right)), dtype)
            case _:
                raise NotImplementedError(str(e))

    def binary(self, op: str, a: Array, b: Array, dtype: DType) -> Array:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a // b if not dtype.is_float else a / b
            case "%":
                return a % b
            case "<":
                return a < b
            case "<=":
                return a <= b
            case ">":
                return a > b
            case ">=":
                return a >= b
            case "==":
                return a == b
            case "&&":
                return (a != 0) & (b != 0)
            case "||":
                return (a != 0) | (b != 0)
            case "^":
                return a ^ b
            case "&":
                return a & b
            case _:
                raise NotImplementedError(op)
