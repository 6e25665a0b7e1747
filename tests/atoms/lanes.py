"""What the 32 lanes of a warp compute in step, and the memory and registers that they see."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from mdh.hardware import Engine, Space
from mdh.ir.atoms import Fragment
from mdh.ir.dtype import F64, NARROW, TF32
from mdh.ir.expr import Call, Cast, Const, Expr, Load, Select, Unary
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, Kernel, Move, Store, swizzle_row
from mdh.ir.matrix import LoadMatrix, LoadWord, Mma, StoreMatrix
from mdh.reference.numbers import converted
from tests.atoms.blocks import Array, Block, as_tf32, demand_tf32, kept, numpy_type, poisoned
from tests.atoms.values import evaluator

LANES = 32
_EACH = np.arange(LANES)


@cache
def _places(fragment: Fragment) -> tuple[Array, Array]:
    """Rows and columns of the elements, by lane and number."""
    at = np.array([[fragment.at(lane, v) for v in range(fragment.count)] for lane in range(LANES)])
    return at[..., 0], at[..., 1]


@dataclass
class Lanes:
    """number: of the warp in its block. fine: others may go first at every statement that they could see."""

    kernel: Kernel
    block: Block
    number: int
    lanes: int
    memory: dict[str, Array]
    bufs: dict[str, Buf]
    fine: bool
    names: dict[str, object] = field(default_factory=dict)
    open: list[tuple[Array, Array, Array]] = field(default_factory=list)
    """Asynchronous moves since the last Commit."""
    registers: dict[str, Array] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    """Registers that were accessed since the last MmaFence."""
    results: dict[str, Array] = field(default_factory=dict)
    """By register: one more than the number of the last atom of warp groups that adds to it."""
    waited: int = 0
    """Atoms of warp groups that have surely run."""

    # -- registers -------------------------------------------------------------------------------

    def touch(self, buffer: str, at: Array) -> None:
        """An access to registers, other than by the atoms of warp groups."""
        if self.fine:
            self.touched.add(buffer)
            assert (self.results[buffer][at] <= self.waited).all(), f"{buffer} is accessed while atoms run"

    def declare(self, buf: Buf, init: Expr | None) -> None:
        if buf.name in self.results:
            self.touch(buf.name, np.arange(buf.elements))
        self.bufs[buf.name] = buf
        rows = np.stack([poisoned(buf.elements, buf.dtype)] * self.lanes)
        if init is not None:
            rows[:] = np.reshape(self.value(init), (-1, 1))
        self.registers[buf.name] = rows
        self.results[buf.name] = np.zeros(buf.elements, int)
        self.touched.add(buf.name)

    # -- memory ----------------------------------------------------------------------------------

    def offset(self, buf: Buf, index: tuple[Expr, ...]) -> Array:
        """Where the kernel's text looks for an element, by lane."""
        return self.swizzled(buf, self.place(buf, index))

    def place(self, buf: Buf, index: tuple[Expr, ...]) -> Array:
        """The same without a swizzle."""
        out = np.zeros(self.lanes, np.int64)
        for e, n in zip(index, buf.strides, strict=True):
            value = self.value(e)
            out += value * n if isinstance(value, int) else value.astype(np.int64, copy=False) * n
        return out

    def swizzled(self, buf: Buf, at: Array) -> Array:
        if not buf.swizzle:
            return at
        chunk = 16 // buf.dtype.bytes
        row = at // swizzle_row(buf) % (buf.swizzle // 16)
        return at ^ (row * chunk)

    def read(self, buf: Buf, at: Array, mask: Array | None = None) -> Array:
        if buf.space is Space.RM:
            self.touch(buf.name, at)
            return self.registers[buf.name][_EACH[: self.lanes], at]
        data = self.memory[buf.name]
        inside = (at >= 0) & (at < data.size)
        if mask is None:
            # lanes that a condition leaves out read, too; what they get must not show
            return np.where(inside, data[np.where(inside, at, 0)], poisoned(1, buf.dtype)[0])
        assert inside[mask].all(), f"{buf.name} is read outside"
        return data[np.where(mask, at, 0)]

    def store(self, s: Store, mask: Array) -> None:
        buf, value = self.bufs[s.buffer], np.asarray(self.value(s.value))
        at = self.offset(buf, s.index)
        for i in range(s.lanes):
            each = value[:, i] if value.ndim == 2 else value
            self.put(buf, at + i, np.broadcast_to(each, mask.shape).astype(numpy_type(buf.dtype)), mask)

    def put(self, buf: Buf, at: Array, values: Array, mask: Array) -> None:
        if buf.space is Space.RM:
            self.touch(buf.name, at[mask])
            self.registers[buf.name][_EACH[: self.lanes][mask], at[mask]] = values[mask]
            return
        data = self.memory[buf.name]
        assert ((at >= 0) & (at < data.size))[mask].all(), f"{buf.name} is written outside"
        data[at[mask]] = values[mask]
        if buf.space is Space.SM and self.fine:
            self.block.shared.written(buf.name, at[mask], self.number)

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

    def load_word(self, s: LoadWord, mask: Array) -> None:
        src, to = self.bufs[s.src], self.bufs[s.dst.buffer]
        whole, size = 4 // src.dtype.bytes, src.dtype.bytes
        assert len(s.places) in (1, whole), "a register that is filled in part"
        held = np.zeros((self.lanes, whole), numpy_type(src.dtype))
        for n, (index, condition) in enumerate(zip(s.places, s.conditions, strict=True)):
            taken = mask if condition is None else mask & (np.asarray(self.value(condition)) != 0)
            at = self.offset(src, index)
            if len(s.places) == 1:
                assert (at[taken] * size % 4 == 0).all(), f"a word of {s.src} is not aligned"
            for i in range(whole // len(s.places)):
                held[:, n + i] = np.where(taken, self.read(src, at + i, taken), 0)
        self.put(to, self.offset(to, s.dst.index), held.view(np.uint32).reshape(self.lanes), mask)

    def store_matrix(self, s: StoreMatrix) -> None:
        dst, src = self.bufs[s.dst], self.bufs[s.src.buffer]
        assert dst.dtype == src.dtype and dst.dtype.bytes == 2, "stmatrix stores words of 16 bits"
        first, rows = self.offset(src, s.src.index), self.offset(dst, s.index)
        for r in range(s.count):
            pair = np.stack([self.read(src, first + 2 * r + e) for e in range(2)], axis=1)
            at = rows[8 * r : 8 * r + 8]
            assert (at % 8 == 0).all(), "stmatrix: a row is not aligned"
            # lane 4 y + x has two elements of row y
            places = (at[:, None] + np.arange(8)).reshape(LANES, 2)
            for e in range(2):
                self.put(dst, places[:, e], pair[:, e], np.ones(LANES, bool))

    def mma(self, s: Mma) -> None:
        atom = s.atom
        sides = []
        for places, fragment, t in ((s.a, atom.a, atom.left), (s.b, atom.b, atom.right)):
            held = np.stack([self.value(p) for p in places], axis=1)
            held = held.copy().view(numpy_type(t)) if t != F64 else held
            if t == TF32:
                demand_tf32(held)
            rows, columns = (atom.m, atom.k) if places is s.a else (atom.k, atom.n)
            matrix = np.zeros((rows, columns), numpy_type(t))
            matrix[_places(fragment)] = held
            sides.append(matrix.astype(np.float64 if t.is_float else np.int64))
        total = (sides[0] @ sides[1]).astype(numpy_type(atom.acc))
        parts = total[_places(atom.c)]
        for v, place in enumerate(s.acc):
            buf = self.bufs[place.buffer]
            at = self.offset(buf, place.index)
            self.put(buf, at, kept(atom, self.read(buf, at) + parts[:, v]), np.ones(self.lanes, bool))

    # -- values ----------------------------------------------------------------------------------

    def uniform(self, e: Expr) -> int:
        value = self.value(e)
        if isinstance(value, int):
            return value
        found = np.asarray(value).reshape(-1)
        assert (found == found[0]).all(), "a loop whose bounds differ among lanes"
        return int(found[0])

    def value(self, e: Expr) -> Any:
        return evaluator(e)(self)

    def evaluated(self, e: Expr) -> Any:
        """The value of an expression that is none of those of `evaluator`."""
        match e:
            case Load(buffer, index, dtype, lanes):
                buf = self.bufs[buffer]
                at = self.offset(buf, index)
                read = self.read(buf, at)
                if lanes > 1:
                    read = np.stack([self.read(buf, at + i) for i in range(lanes)], axis=1)
                return read.astype(np.float32) if dtype in NARROW else read
            case Cast(arg, dtype):
                value = converted(np.asarray(self.value(arg)), dtype)
                return value.astype(np.float32) if dtype in NARROW else value
            case Unary("-", arg, _):
                return -np.asarray(self.value(arg))
            case Unary("!", arg, _):
                return np.asarray(self.value(arg)) == 0
            case Select(cond, then, other, _):
                return np.where(np.asarray(self.value(cond)) != 0, self.value(then), self.value(other))
            case Call(Intrinsic.BLOCK_ID, (Const(axis, _),), _):
                return np.full(self.lanes, self.block.at[axis])
            case Call(Intrinsic.THREAD_ID, (Const(axis, _),), _):
                x, y, _ = self.kernel.launch.block
                tid = self.number * LANES + np.arange(self.lanes)
                return (tid % x, tid // x % y, tid // x // y)[axis]
            case Call(Intrinsic.CLUSTER_RANK, (), _):
                return np.full(self.lanes, self.block.rank)
            case Call(Intrinsic.SHFL, (arg, lane), _):
                held = np.broadcast_to(np.asarray(self.value(arg)), (self.lanes,))
                return held[np.broadcast_to(np.asarray(self.value(lane)), (self.lanes,))]
            case Call(Intrinsic.SHFL_XOR, (arg, bits), _):
                held = np.broadcast_to(np.asarray(self.value(arg)), (self.lanes,))
                return held[np.arange(self.lanes) ^ np.asarray(self.value(bits))]
            case Call(Intrinsic.TO_TF32, (arg,), _):
                return as_tf32(np.asarray(self.value(arg)))
            case Call(Intrinsic.IMIN, (a, b), _):
                return np.minimum(self.value(a), self.value(b))
            case Call(Intrinsic.IMAX, (a, b), _):
                return np.maximum(self.value(a), self.value(b))
            case Call(Intrinsic.LANE, (vector, Const(n, _)), _):
                return np.asarray(self.value(vector))[:, n]
            case Call("fmax", (a, b), _):
                return np.fmax(self.value(a), self.value(b))
            case _:
                raise NotImplementedError(str(e))
