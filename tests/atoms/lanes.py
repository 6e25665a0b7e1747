"""What the 32 lanes of a warp compute in step, and the memory and registers that they see."""

from dataclasses import dataclass, field
from functools import cache, lru_cache
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
from tests.atoms.blocks import Array, Block, as_tf32, demand_tf32, kept, numpy_type, poisoned, product_of
from tests.atoms.values import MOST, evaluator, joint

LANES = 32


@cache
def places_of(fragment: Fragment) -> tuple[Array, Array]:
    """Rows and columns of the elements, by lane of a warp and number."""
    at = np.array([[fragment.at(lane, v) for v in range(fragment.count)] for lane in range(LANES)])
    return at[..., 0], at[..., 1]


class Spot:
    """Places in a buffer: one of each lane, or several in a row of the array."""

    def __init__(self, at: Array) -> None:
        self.at = at
        self._ends: tuple[int, int] | None = None
        self._wide: dict[int, Spot] = {}
        self._multiples: dict[int, bool] = {}

    def inside(self, size: int) -> bool:
        """All of them are places in an array of so many elements."""
        if self._ends is None:
            self._ends = int(self.at.min()), int(self.at.max())
        low, high = self._ends
        return low >= 0 and high < size

    def wide(self, count: int) -> "Spot":
        """So many places from each on."""
        if count not in self._wide:
            self._wide[count] = Spot(self.at[:, None] + np.arange(count))
        return self._wide[count]

    def multiple(self, count: int, mask: Array) -> bool:
        """Those of the lanes in the mask are multiples of a number."""
        if count not in self._multiples:
            self._multiples[count] = not (self.at % count).any()
        return self._multiples[count] or not (self.at[mask] % count).any()


def linear(lanes: int, buf: Buf, values: list[Any]) -> Array:
    """The number of an element by the values of its index, without a swizzle."""
    out = np.zeros(lanes, np.int64)
    for value, n in zip(values, buf.strides, strict=True):
        out += value * n if isinstance(value, int) else value.astype(np.int64, copy=False) * n
    return out


def swizzled(buf: Buf, at: Array) -> Array:
    if not buf.swizzle:
        return at
    chunk = 16 // buf.dtype.bytes
    row = at // swizzle_row(buf) % (buf.swizzle // 16)
    return at ^ (row * chunk)


@cache
def _each(lanes: int, dims: int) -> Array:
    """The numbers of the lanes, beside places of so many dimensions."""
    return np.arange(lanes).reshape(-1, *[1] * (dims - 1))


@lru_cache(4096)
def _all(lanes: int, value: int) -> Array:
    return np.full(lanes, value)


@lru_cache(4096)
def _threads(block: tuple[int, int, int], number: int, lanes: int, axis: int) -> Array:
    """The coordinates of a warp's threads."""
    x, y, _ = block
    tid = number * LANES + np.arange(lanes)
    return (tid % x, tid // x % y, tid // x // y)[axis]


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

    def __post_init__(self) -> None:
        self.everyone = np.ones(self.lanes, bool)
        """The mask of all lanes: a statement that has it need not look at single ones."""
        self.nobody = ~self.everyone
        self._taken: dict[tuple[int, int], tuple[Array, Array, Array, Array]] = {}
        """By the identity of masks and of conditions, which live as long as they stand here."""

    def taken(self, cond: Expr | None, mask: Array) -> tuple[Array, Array]:
        """The lanes of a mask for which a condition holds, and the others."""
        if cond is None:
            return mask, self.nobody
        held = self.value(cond)
        if np.ndim(held) == 0:
            return (mask, self.nobody) if held != 0 else (self.nobody, mask)
        known = self._taken.get((id(mask), id(held)))
        if known is None:
            if len(self._taken) >= MOST:
                self._taken.clear()
            then, other = mask & (held != 0), mask & (held == 0)
            then, other = (self.everyone if x.all() else x for x in (then, other))
            known = self._taken[id(mask), id(held)] = mask, held, then, other
        return known[2:]

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
        return self.spot(buf, index).at

    def spot(self, buf: Buf, index: tuple[Expr, ...]) -> Spot:
        def found(lanes: int, values: list[Any]) -> Spot:
            return Spot(swizzled(buf, linear(lanes, buf, values)))

        spot: Spot = joint((buf, index), index, found)(self)
        return spot

    def place(self, buf: Buf, index: tuple[Expr, ...]) -> Array:
        """The same without a swizzle."""
        return linear(self.lanes, buf, [self.value(e) for e in index])

    def read(self, buf: Buf, spot: Spot, mask: Array | None = None) -> Array:
        """mask: of lanes that read, whose places must be inside of the buffer."""
        at = spot.at
        if buf.space is Space.RM:
            self.touch(buf.name, at)
            return self.registers[buf.name][_each(self.lanes, at.ndim), at]
        data = self.memory[buf.name]
        if spot.inside(data.size):
            return data[at]
        inside = (at >= 0) & (at < data.size)
        # lanes that a condition leaves out read, too; what they get must not show
        assert mask is None or inside[mask].all(), f"{buf.name} is read outside"
        return np.where(inside, data[np.where(inside, at, 0)], poisoned(1, buf.dtype)[0])

    def store(self, s: Store, mask: Array) -> None:
        buf, value = self.bufs[s.buffer], np.asarray(self.value(s.value))
        spot = self.spot(buf, s.index)
        if s.lanes > 1:
            spot = spot.wide(s.lanes)
            value = value if value.ndim == 2 else value.reshape(-1, 1)
        elif value.ndim == 2:
            value = value[:, 0]
        self.put(buf, spot, np.broadcast_to(value, spot.at.shape).astype(numpy_type(buf.dtype)), mask)

    def put(self, buf: Buf, spot: Spot, values: Array, mask: Array) -> None:
        at, everyone = spot.at, mask is self.everyone
        if buf.space is Space.RM:
            rows = self.registers[buf.name]
            if everyone:
                self.touch(buf.name, at)
                rows[_each(self.lanes, at.ndim), at] = values
            else:
                self.touch(buf.name, at[mask])
                rows[_each(self.lanes, at.ndim)[mask], at[mask]] = values[mask]
            return
        data = self.memory[buf.name]
        if not everyone:
            at, values = at[mask], values[mask]
        assert spot.inside(data.size) or ((at >= 0) & (at < data.size)).all(), (
            f"{buf.name} is written outside"
        )
        data[at] = values
        if buf.space is Space.SM and self.fine:
            self.block.shared.written(buf.name, at.reshape(-1), self.number)

    def move(self, s: Move, mask: Array) -> None:
        dst, src = self.bufs[s.dst], self.bufs[s.src]
        taken = self.taken(s.pred, mask)[0]
        fill = 0 if s.fill is None else self.value(s.fill)
        to, frm = self.spot(dst, s.dst_index), self.spot(src, s.src_index)
        assert dst.space is Space.RM or to.multiple(s.lanes, mask), f"{s.dst} is not aligned"
        assert src.space is Space.RM or frm.multiple(s.lanes, taken), f"{s.src} is not aligned"
        to, frm = to.wide(s.lanes), frm.wide(s.lanes)
        values = self.read(src, frm, taken)
        if taken is not self.everyone:
            values = np.where(taken[:, None], values, fill)
        values = values.astype(numpy_type(dst.dtype))
        wide = s.lanes * src.dtype.bytes
        if s.engine is Engine.ASYNC and dst.space is Space.SM and wide in (4, 8, 16):
            self.open.append((self.memory[dst.name], to.at[mask], values[mask]))
        else:
            self.put(dst, to, values, mask)

    def load_matrix(self, s: LoadMatrix) -> None:
        src, count = self.bufs[s.src], len(s.dst)
        per = 16 // src.dtype.bytes
        at = self.offset(src, s.index)[: 8 * count]
        assert at.min() >= 0 and at.max() + per <= src.elements, f"ldmatrix: {s.src} is read outside"
        assert (at % per == 0).all(), "ldmatrix: a row is not aligned"
        rows = self.memory[s.src][at[:, None] + np.arange(per)]
        half = rows.view(np.uint16).reshape(count, 8, 8)
        half = np.ascontiguousarray(half.swapaxes(1, 2) if s.transposed else half)
        words = half.reshape(count, LANES, 2).view(np.uint32).reshape(count, LANES)
        self.fill(s.dst, words.T)

    def fill(self, places: tuple[Load, ...], values: Array) -> None:
        """Registers of all lanes, whose values are columns."""
        buf, spot = self.registers_of(places)
        if spot is not None:
            self.put(buf, spot, values, self.everyone)
            return
        for n, place in enumerate(places):
            buf = self.bufs[place.buffer]
            self.put(buf, self.spot(buf, place.index), values[:, n], self.everyone)

    def held(self, places: tuple[Load, ...]) -> Array:
        """What all lanes have in registers, by lane and place."""
        buf, spot = self.registers_of(places)
        if spot is not None:
            return self.read(buf, spot)
        return np.stack([self.value(p) for p in places], axis=1)

    def registers_of(self, places: tuple[Load, ...]) -> tuple[Buf, Spot | None]:
        """The buffer of the places, and where all of them lie; None if they lie in several."""
        buf = self.bufs[places[0].buffer]
        if any(p.buffer != buf.name or p.lanes > 1 for p in places):
            return buf, None

        def found(lanes: int, values: list[Any]) -> Spot:
            dims = len(buf.strides)
            each = (values[n * dims : (n + 1) * dims] for n in range(len(places)))
            several = [linear(lanes, buf, index) for index in each]
            return Spot(np.stack(several, axis=1))

        spot: Spot = joint((buf, places), tuple(e for p in places for e in p.index), found)(self)
        return buf, spot

    def load_word(self, s: LoadWord, mask: Array) -> None:
        src, to = self.bufs[s.src], self.bufs[s.dst.buffer]
        whole = 4 // src.dtype.bytes
        assert len(s.places) in (1, whole), "a register that is filled in part"
        held = np.zeros((self.lanes, whole), numpy_type(src.dtype))
        for n, (index, condition) in enumerate(zip(s.places, s.conditions, strict=True)):
            taken = self.taken(condition, mask)[0]
            spot = self.spot(src, index)
            if len(s.places) == 1:
                assert spot.multiple(whole, taken), f"a word of {s.src} is not aligned"
            read = self.read(src, spot.wide(whole // len(s.places)), taken)
            held[:, n : n + read.shape[1]] = (
                read if taken is self.everyone else np.where(taken[:, None], read, 0)
            )
        self.put(to, self.spot(to, s.dst.index), held.view(np.uint32).reshape(self.lanes), mask)

    def store_matrix(self, s: StoreMatrix) -> None:
        dst, src = self.bufs[s.dst], self.bufs[s.src.buffer]
        assert dst.dtype == src.dtype and dst.dtype.bytes == 2, "stmatrix stores words of 16 bits"
        held, rows = self.read(src, self.spot(src, s.src.index).wide(2 * s.count)), self.offset(dst, s.index)
        for r in range(s.count):
            at = rows[8 * r : 8 * r + 8]
            assert (at % 8 == 0).all(), "stmatrix: a row is not aligned"
            # lane 4 y + x has two elements of row y
            places = (at[:, None] + np.arange(8)).reshape(LANES, 2)
            self.put(dst, Spot(places), held[:, 2 * r : 2 * r + 2], self.everyone)

    def mma(self, s: Mma) -> None:
        atom, sides = s.atom, []
        for places, fragment, t in ((s.a, atom.a, atom.left), (s.b, atom.b, atom.right)):
            held = self.held(places)
            held = np.ascontiguousarray(held).view(numpy_type(t)) if t != F64 else held
            if t == TF32:
                demand_tf32(held)
            rows, columns = (atom.m, atom.k) if places is s.a else (atom.k, atom.n)
            matrix = np.zeros((rows, columns), numpy_type(t))
            matrix[places_of(fragment)] = held
            sides.append(matrix)
        total = product_of(*sides).astype(numpy_type(atom.acc))
        self.fill(s.acc, kept(atom, self.held(s.acc) + total[places_of(atom.c)]))

    # -- values ----------------------------------------------------------------------------------

    def uniform(self, e: Expr) -> int:
        if isinstance(e, Const) and isinstance(e.value, int):
            return e.value
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
                spot = self.spot(buf, index)
                read = self.read(buf, spot if lanes == 1 else spot.wide(lanes))
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
                return _all(self.lanes, self.block.at[axis])
            case Call(Intrinsic.THREAD_ID, (Const(axis, _),), _):
                return _threads(self.kernel.launch.block, self.number, self.lanes, int(axis))
            case Call(Intrinsic.CLUSTER_RANK, (), _):
                return _all(self.lanes, self.block.rank)
            case Call(Intrinsic.SHFL, (arg, lane), _):
                held = np.broadcast_to(np.asarray(self.value(arg)), (self.lanes,))
                return held[np.broadcast_to(np.asarray(self.value(lane)), (self.lanes,))]
            case Call(Intrinsic.SHFL_XOR, (arg, bits), _):
                held = np.broadcast_to(np.asarray(self.value(arg)), (self.lanes,))
                return held[np.arange(self.lanes) ^ np.asarray(self.value(bits))]
            case Call(Intrinsic.TO_TF32, (arg,), _):
                return as_tf32(np.asarray(self.value(arg)))
            case Call(Intrinsic.DIVIDED, (x, y, _, scale), _):
                return np.asarray(self.value(x)) / (np.asarray(self.value(y)) / self.value(scale))
            case Call(Intrinsic.IMIN, (a, b), _):
                return np.minimum(self.value(a), self.value(b))
            case Call(Intrinsic.IMAX, (a, b), _):
                return np.maximum(self.value(a), self.value(b))
            case Call(Intrinsic.LANE, (vector, Const(n, _)), _):
                return np.asarray(self.value(vector))[:, n]
            case Call("fmax", (a, b), _):
                return np.fmax(self.value(a), self.value(b))
            case Call("exp" | "fabs" as fn, (arg,), _):
                return np.asarray({"exp": np.exp, "fabs": np.abs}[fn](np.asarray(self.value(arg))))
            case _:
                raise NotImplementedError(str(e))
