"""The blocks of a cluster in the interpreter: shared memory by bytes, tokens, copies in flight, and whose
turn it is.

Whatever may run runs in an order that a seed draws: warps, copies that land, and atoms of warp groups.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import prod

import ml_dtypes
import numpy as np

from mdh.ir.atoms import Atom
from mdh.ir.copy_engine import BoxCopy, TensorMap
from mdh.ir.dtype import TF32, U64, DType
from mdh.ir.kernel import Barrier, Kernel
from mdh.target.shared import shared_layout

REGISTERS = 65536
"""Of a multiprocessor."""
MOST_REGISTERS = 248
MOST_BYTES = 2**20
"""That a token can wait for."""
POISON = 77
NUMPY = {
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "tf32": np.float32,
}  # fmt: skip
Array = np.ndarray


def numpy_type(t: DType) -> np.dtype:
    known = NUMPY.get(t.name)
    return np.dtype(known if known is not None else t.name.replace("i", "int").replace("u", "uint"))


def as_tf32(values: Array) -> Array:
    """Numbers of f32 rounded to 11 significant bits, to the nearest, of two to the larger in size."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    whole = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), whole, bits).astype(np.uint32)


def demand_tf32(values: Array) -> None:
    """Hardware cuts off the other bits: who lets it do that has forgotten to round."""
    numbers = values[np.isfinite(values)]
    assert not (numbers.view(np.uint32) & 0x1FFF).any(), "factors of tf32 have more bits than that"


def poisoned(size: int, t: DType) -> Array:
    kind = numpy_type(t)
    return np.full(size, np.nan if t.is_float else POISON, kind)


def kept(atom: Atom, sums: Array) -> Array:
    """Sums as an atom holds them: of 8-bit floats with 13 bits behind the leading one, the others cut off."""
    if not atom.coarse:
        return sums
    part, exponent = np.frexp(sums)
    return np.ldexp(np.trunc(np.ldexp(part, 14)), exponent - 14).astype(sums.dtype)


def product_of(a: Array, b: Array) -> Array:
    """Of matrices of any type. Sums of as many terms as an atom has are exact in f64, which NumPy multiplies
    faster than integers."""
    return a.astype(np.float64) @ b.astype(np.float64)


def swizzled_address(address: Array, span: int) -> Array:
    """Where the hardware keeps a byte: bits 4 … of its address, as many as number the chunks of 16 bytes in a
    span, are XORed with the bits from bit 7 on. Source: PTX ISA, "Swizzling Modes"."""
    chunks = {0: 0, 32: 1, 64: 3, 128: 7}[span]
    return address ^ ((address >> 7 & chunks) << 4)


@lru_cache(64)
def box_addresses(start: int, size: int, span: int) -> Array:
    """Where the hardware keeps the bytes of a box whose first one has the address `start`."""
    return swizzled_address(start + np.arange(size), span)


class Shared:
    """A block's shared memory. Its buffers lie at the addresses that the target gives them, behind a start
    that is aligned as the text says and no better."""

    def __init__(self, kernel: Kernel, order: random.Random) -> None:
        slots = shared_layout(kernel)
        self.slots = {s.buf.name: s for s in slots}
        align = max([128, *(s.align for s in slots)])
        self.first = align * order.randrange(1, 4)
        self.bytes = np.zeros(-(-max([0, *(s.end for s in slots)]) // 128) * 128, np.uint8)
        self.by_engine = np.zeros(self.bytes.size, bool)
        self.by_threads = np.zeros(self.bytes.size, bool)
        """Who wrote the byte last: no fence between the two is lowered, so none may follow the other."""
        self.unseen = np.full(self.bytes.size, -1)
        """The warp that wrote the byte without a fence behind it, so that the copy engine may not see it; -1:
        it does."""
        self.views = {s.buf.name: self.bytes[s.start : s.end].view(numpy_type(s.buf.dtype)) for s in slots}
        for s in slots:
            self.views[s.buf.name][:] = poisoned(s.elements, s.buf.dtype)

    def address(self, buffer: str, element: int) -> int:
        """Of an element by its place in the buffer."""
        slot = self.slots[buffer]
        return self.first + slot.start + element * slot.buf.dtype.bytes

    def written(self, buffer: str, elements: Array, warp: int) -> None:
        """Threads of a warp have written elements of a buffer."""
        slot = self.slots[buffer]

        def each(of: Array) -> Array:
            """The bytes, by element."""
            return of[slot.start : slot.end].reshape(-1, slot.buf.dtype.bytes)

        by_engine = each(self.by_engine)[elements].any()
        assert not by_engine, f"threads write to {buffer} what the copy engine has written"
        each(self.by_threads)[elements] = True
        each(self.unseen)[elements] = warp

    def fence(self, warp: int) -> None:
        self.unseen[self.unseen == warp] = -1

    def place(self, address: Array) -> Array:
        at = address - self.first
        assert ((at >= 0) & (at < self.bytes.size)).all(), "outside of shared memory"
        return at


@dataclass
class Token:
    """An mbarrier. missing: arrivals that its phase still waits for; bytes: that must still land."""

    arrivals: int
    missing: int
    bytes: int = 0
    phase: int = 0
    ready: bool = False
    """The copy engine sees it."""

    def arrive(self) -> None:
        self.missing -= 1
        self._end()

    def expect(self, count: int) -> None:
        self.bytes += count
        assert self.bytes < MOST_BYTES, "more bytes than a token can wait for"

    def land(self, count: int) -> None:
        self.bytes -= count
        assert self.bytes > -MOST_BYTES, "more bytes than a token can count"
        self._end()

    def ended(self, parity: int) -> bool:
        """Whether the phase of this parity has ended: the present one has the other."""
        return self.phase % 2 != parity

    def _end(self) -> None:
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.arrivals


@dataclass(frozen=True)
class Pause:
    """A warp lets others go first, until `over`."""

    over: Callable[[], bool]
    text: str


@dataclass
class Meeting:
    """A barrier of `size` warps."""

    size: int
    here: list[Barrier] = field(default_factory=list)
    turn: int = 0

    def wait(self, s: Barrier) -> Pause:
        turn = self.turn
        self.here.append(s)
        assert all(s is other for other in self.here), "warps meet at different barriers"
        if len(self.here) == self.size:
            self.here, self.turn = [], turn + 1
        return Pause(lambda: self.turn > turn, f"barrier: {s.reason}")


@dataclass(frozen=True)
class Landing:
    """A box on its way to shared memory, to the byte of number `place`."""

    map: TensorMap
    start: tuple[int, ...]
    block: "Block"
    buffer: str
    place: int
    token: Token

    @property
    def size(self) -> int:
        return prod(self.map.box) * self.map.dtype.bytes

    def leave(self) -> None:
        """From now on nobody knows what lies where the box will be."""
        m, slot = self.map, self.block.shared.slots[self.buffer]
        assert len(m.box) <= 5, "more dimensions than the copy engine has"
        assert all(0 < n <= 256 for n in m.passed), "a box that is too long"
        assert all(0 < n <= 8 for n in m.steps), "a step that the copy engine has not"
        assert not m.steps or m.steps[-1] == 1, "rows of a box have gaps"
        row = m.box[-1] * m.dtype.bytes
        assert row % 16 == 0, "rows of a box are not whole units"
        assert not m.swizzle or row <= m.swizzle, "rows of a box are longer than its swizzle"
        assert all(n * m.dtype.bytes % 16 == 0 for n in _pitches(m.shape)), "rows of an array are not aligned"
        assert self.place % max(128, 8 * m.swizzle) == 0, "a box is not aligned in shared memory"
        first = self.block.shared.first
        assert slot.start <= self.place - first, "a box before its buffer"
        assert self.place - first + self.size <= slot.end, "a box that ends behind its buffer"
        self._write(poisoned(prod(m.box), m.dtype))

    def land(self, memory: Mapping[str, Array]) -> None:
        assert not self.block.ended, "a box lands where the block has ended"
        m = self.map
        array = memory[m.buffer].reshape(m.shape)
        each = zip(m.box, m.steps or (1,) * len(m.box), self.start, strict=True)
        at = np.meshgrid(*(np.arange(n) * step + x for n, step, x in each), indexing="ij")
        inside = np.ones(m.box, bool)
        for x, n in zip(at, m.shape, strict=True):
            inside &= (x >= 0) & (x < n)
        box = np.where(inside, array[tuple(np.where(inside, x, 0) for x in at)], np.zeros(1, array.dtype))
        box = np.ascontiguousarray(box.astype(array.dtype)).reshape(-1)
        self._write(as_tf32(box) if m.dtype == TF32 else box)
        self.token.land(self.size)

    def _write(self, elements: Array) -> None:
        shared = self.block.shared
        at = shared.place(box_addresses(self.place, self.size, self.map.swizzle))
        assert not shared.by_threads[at].any(), f"a box lands in {self.buffer} on what threads have written"
        shared.bytes[at] = elements.view(np.uint8)
        shared.by_engine[at] = True


def _pitches(shape: tuple[int, ...]) -> Iterator[int]:
    for d in range(1, len(shape)):
        yield prod(shape[d:])


@dataclass
class Block:
    """rank: in its cluster. groups: the barriers of its warp groups."""

    kernel: Kernel
    at: tuple[int, ...]
    rank: int
    shared: Shared
    cluster: "Cluster"
    meeting: Meeting
    groups: list[Meeting] = field(default_factory=list)
    tokens: dict[tuple[str, int], Token] = field(default_factory=dict)
    registers: int = 0
    """That its warps gave back, of all threads together."""
    running: int = 0
    """Warps."""

    @property
    def ended(self) -> bool:
        return self.running == 0

    def init(self, buffer: str, arrivals: int) -> None:
        assert self.shared.slots[buffer].buf.dtype == U64
        for n in range(self.shared.slots[buffer].elements):
            assert (buffer, n) not in self.tokens, f"{buffer} begins twice"
            self.tokens[buffer, n] = Token(arrivals, arrivals)

    def token(self, buffer: str, at: int) -> Token:
        assert not self.ended, f"a token of {buffer} is used after its block has ended"
        assert (buffer, at) in self.tokens, f"a token of {buffer} is used before it is initialised"
        return self.tokens[buffer, at]

    def box(self, s: BoxCopy, start: tuple[int, ...], element: int, slot: int) -> Landing:
        said = next(m for m in self.kernel.maps if m.name == s.map)
        token = self.token(s.token, slot)
        assert token.ready, f"the copy engine does not see {s.token} yet"
        landing = Landing(said, start, self, s.dst, self.shared.address(s.dst, element), token)
        landing.leave()
        return landing


@dataclass
class Task:
    """A warp. weight: how often its turn comes, beside that of others."""

    name: str
    block: Block
    steps: Iterator[Pause | None]
    weight: float
    pause: Pause | None = None

    @property
    def free(self) -> bool:
        return self.pause is None or self.pause.over()


class Cluster:
    """Its blocks run together. All that may come late does so with a probability that the order draws: some
    orders keep copies and atoms back until nothing else can run."""

    def __init__(self, memory: dict[str, Array], order: random.Random) -> None:
        self.memory = memory
        self.order = order
        self.blocks: list[Block] = []
        self.tasks: list[Task] = []
        self.landings: list[Landing] = []
        self.queues: list[Callable[[], Callable[[], None] | None]] = []
        """Each says what it can do now, if anything: a warp group's atoms."""
        self.meeting = Meeting(0)
        self.eager = {kind: order.choice((0.0, 0.0, 0.05, 1.0, 20.0)) for kind in ("landing", "atom")}

    def add(self, block: Block, name: str, steps: Iterator[Pause | None]) -> None:
        block.running += 1
        self.tasks.append(Task(name, block, steps, self.order.choice((1.0, 1.0, 1.0, 0.03, 10.0))))

    def events(self) -> list[tuple[Callable[[], None], float]]:
        """All that can happen next, and how likely it is."""
        out = [(partial(self._step, t), t.weight) for t in self.tasks if t.free]
        out += [(partial(self._land, x), self.eager["landing"]) for x in self.landings]
        return out + [(act, self.eager["atom"]) for q in self.queues if (act := q()) is not None]

    def _land(self, landing: Landing) -> None:
        self.landings.remove(landing)
        landing.land(self.memory)

    def _step(self, task: Task) -> None:
        try:
            task.pause = next(task.steps)
        except StopIteration:
            self.tasks.remove(task)
            task.block.running -= 1
            if task.block.ended:
                lost = [x for x in self.landings if x.block is task.block]
                assert not lost, "a box lands where the block has ended"


def run_together(clusters: list[Cluster], order: random.Random) -> None:
    """Runs clusters to their end, of which each may wait for the others."""
    while any(c.tasks for c in clusters):
        events = [e for c in clusters for e in c.events()]
        if not events:
            waits = ", ".join(f"{t.name}: {t.pause.text}" for c in clusters for t in c.tasks if t.pause)
            raise AssertionError(f"nobody can go on: {waits}")
        acts, weights = zip(*events, strict=True)
        order.choices(acts, weights if any(weights) else None)[0]()
    assert not any(c.landings for c in clusters), "boxes land after the kernel has ended"
