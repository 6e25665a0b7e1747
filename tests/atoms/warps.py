"""A small interpreter of kernel IR: the warps of a cluster's blocks take turns in an order that a seed draws,
each with its 32 lanes in step.

Asynchronous copies land as late as they may: at the wait that says that they have. Boxes and atoms of warp
groups take effect at any moment at which they may (blocks.py). Registers and shared memory begin as NaN or as
a large number, so that what is read before it is written shows in the result.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from mdh.hardware import Space
from mdh.ir.atoms import WARP_ROWS
from mdh.ir.copy_engine import (
    Arrive,
    Await,
    BoxCopy,
    BoxStore,
    Expect,
    FetchMap,
    InitTokens,
    SetRegisters,
    StoreCommit,
    StoreFence,
    StoreWait,
    TokensReady,
)
from mdh.ir.dtype import TF32
from mdh.ir.expr import Expr
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    AwaitKernels,
    Barrier,
    Comment,
    Commit,
    Fence,
    For,
    ForKind,
    If,
    Kernel,
    Let,
    Module,
    Move,
    Stmt,
    Store,
    Wait,
    While,
)
from mdh.ir.matrix import GroupMma, LoadMatrix, LoadWord, Mma, MmaCommit, MmaFence, MmaWait, StoreMatrix
from mdh.ir.walk import statements
from tests.atoms.blocks import (
    MOST_REGISTERS,
    REGISTERS,
    Array,
    Block,
    Cluster,
    Meeting,
    Pause,
    Shared,
    demand_tf32,
    kept,
    numpy_type,
    poisoned,
    run_together,
)
from tests.atoms.boxes import GROUP_WARPS, Boxes
from tests.atoms.group_mma import Descriptor, Issue, Queue
from tests.atoms.lanes import LANES, places_of
from tests.atoms.values import forget


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
        forget()
        sides = kernel.launch.cluster
        counts = [n // c for n, c in zip(kernel.launch.grid, sides, strict=True)]
        clusters = []
        for which in product(*map(range, counts)):
            cluster = Cluster(memory, order)
            clusters.append(cluster)
            # ranks count x first
            for z, y, x in product(*(range(n) for n in reversed(sides))):
                inside = zip(which, sides, (x, y, z), strict=True)
                _enter(kernel, cluster, tuple(w * c + i for w, c, i in inside), dict(scalars))
            if not any(isinstance(s, Fence) for s in statements(kernel.body)):
                run_together([clusters.pop()], order)
        # blocks that hand values to one another
        run_together(clusters, order)


def _enter(kernel: Kernel, cluster: Cluster, at: tuple[int, ...], scalars: dict[str, float]) -> None:
    """The warps of a block begin."""
    bufs = {b.name: b for b in kernel.buffers}
    inner = list(statements(kernel.body))
    bufs.update((s.buf.name, s.buf) for s in inner if isinstance(s, Alloc) and s.buf.space is Space.SM)
    threads = prod(kernel.launch.block)
    count = -(-threads // LANES)
    shared = Shared(kernel, cluster.order)
    block = Block(kernel, at, len(cluster.blocks), shared, cluster, Meeting(count))
    block.groups = [Meeting(min(GROUP_WARPS, count - n)) for n in range(0, count, GROUP_WARPS)]
    cluster.blocks.append(block)
    cluster.meeting.size += count
    fine = any(isinstance(s, BoxCopy | GroupMma) for s in inner)
    queues = [Queue(shared) for _ in range(-(-count // GROUP_WARPS))]
    cluster.queues.extend(q.able for q in queues)
    for n in range(count):
        lanes = min(LANES, threads - n * LANES)
        queue = queues[n // GROUP_WARPS]
        memory = {**cluster.memory, **shared.views}
        warp = _Warp(kernel, block, n, lanes, memory, dict(bufs), fine, queue=queue)
        warp.names.update(scalars)
        cluster.add(block, f"warp {n} of block {at}", warp.whole())


@dataclass
class _Warp(Boxes):
    """queue: of its warp group."""

    queue: Queue = field(kw_only=True)
    groups: list[list[tuple[Array, Array, Array]]] = field(default_factory=list)
    """Of asynchronous moves."""
    issued: int = 0
    commits: list[int] = field(default_factory=list)
    """How many atoms had been issued at each."""

    def whole(self) -> Iterator[Pause | None]:
        threads = prod(self.kernel.launch.block)
        each = REGISTERS // max(1, self.kernel.launch.min_blocks) // threads // 8 * 8
        self.registers_held = min(each, MOST_REGISTERS)
        yield from self.body(self.kernel.body, self.everyone)
        assert self.waited == self.issued, "a warp ends while its atoms run"
        assert all(s.ended for s in self.leaving.values()), "a thread ends while its boxes are stored"

    def body(self, body: tuple[Stmt, ...], mask: Array) -> Iterator[Pause | None]:
        """Yields where others may go first."""
        for s in body:
            match s:
                case Comment():
                    pass
                case Alloc(buf, init):
                    if buf.space is Space.RM:
                        self.declare(buf, init)
                case Let(name, value, _):
                    self.names[name] = self.value(value)
                case Store():
                    self.store(s, mask)
                case Move():
                    self.move(s, mask)
                case For():
                    yield from self.loop(s, mask)
                case If(cond, then, orelse):
                    for side, taken in zip((then, orelse), self.taken(cond, mask), strict=True):
                        if taken is self.everyone or taken.any():
                            yield from self.body(side, taken)
                case Atomic("+", buffer, index, value, None):
                    at, added = self.offset(self.bufs[buffer], index), np.asarray(self.value(value))
                    for i in range(s.lanes):
                        each = np.broadcast_to(added[:, i] if added.ndim == 2 else added, mask.shape)
                        np.add.at(self.memory[buffer], at[mask] + i, each[mask])
                case Atomic("+", buffer, index, value, str() as result):
                    assert mask.sum() == 1, "tickets that several lanes draw"
                    at, drawn = self.offset(self.bufs[buffer], index)[mask], self.memory[buffer]
                    self.names[result] = np.full(self.lanes, drawn[at[0]])
                    drawn[at[0]] += int(np.asarray(self.value(value)).flat[0])
                case While(cond, ()):
                    waits = self.polled(cond, mask)
                    while not waits():
                        yield Pause(waits, "awaits another block")
                case Fence():
                    yield None
                case Barrier(scope, _):
                    assert mask.all(), "a barrier that only some lanes reach"
                    yield self.meeting(scope).wait(s)
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
                case LoadWord():
                    self.load_word(s, mask)
                case StoreMatrix():
                    assert mask.all()
                    self.store_matrix(s)
                case Mma():
                    assert mask.all()
                    self.mma(s)
                case GroupMma() | MmaFence() | MmaCommit() | MmaWait():
                    assert mask.all(), "a warp group's word that only some lanes reach"
                    yield from self.group_word(s)
                case (
                    InitTokens() | TokensReady() | Expect() | Arrive() | Await() | BoxCopy() | SetRegisters()
                ):
                    yield from self.engine_word(s, mask)
                case AwaitKernels() | FetchMap():
                    pass
                case BoxStore() | StoreFence() | StoreCommit() | StoreWait():
                    yield None
                    self.store_word(s, mask)
                case _:
                    raise NotImplementedError(type(s).__name__)

    def polled(self, cond: Expr, mask: Array) -> Callable[[], bool]:
        """Whether a condition that others change is false for all lanes by now."""
        names = dict(self.names)

        def over() -> bool:
            mine, self.names = self.names, names
            held = np.broadcast_to(np.asarray(self.value(cond)) != 0, mask.shape)
            self.names = mine
            return not held[mask].any()

        return over

    def loop(self, s: For, mask: Array) -> Iterator[Pause | None]:
        at = self.uniform(s.start)
        while at < self.uniform(s.stop):
            self.names[s.var] = at
            if self.fine and s.kind is ForKind.SEQ:
                yield None
            yield from self.body(s.body, mask)
            at += self.uniform(s.step)

    # -- atoms of warp groups ----------------------------------------------------------------------

    def group_word(self, s: GroupMma | MmaFence | MmaCommit | MmaWait) -> Iterator[Pause | None]:
        yield None
        match s:
            case GroupMma():
                self.group_mma(s)
            case MmaFence():
                self.touched.clear()
            case MmaCommit():
                self.commits.append(self.issued)
            case MmaWait(pending):
                upto = self.commits[-1 - pending] if len(self.commits) > pending else 0
                while self.queue.done < upto:
                    yield Pause(lambda: self.queue.done >= upto, "awaits atoms of its warp group")
                self.waited = max(self.waited, upto)

    def held_rows(self, s: GroupMma) -> Array:
        """The warp's rows of a factor that its registers hold."""
        atom, columns = s.atom, []
        for place in s.held:
            assert place.buffer not in self.touched, f"no fence between {place.buffer} and its atom"
            at = self.offset(self.bufs[place.buffer], place.index)
            columns.append(self.registers[place.buffer][np.arange(self.lanes), at])
        elements = np.stack(columns, axis=1).view(numpy_type(atom.left))
        if atom.left == TF32:
            demand_tf32(elements)
        out = np.zeros((WARP_ROWS, atom.k), elements.dtype)
        out[places_of(atom.a)] = elements
        return out

    def group_mma(self, s: GroupMma) -> None:
        buffer = s.acc.buffer
        assert self.lanes == LANES and buffer not in self.touched, f"no fence between {buffer} and its atom"
        buf, rows = self.bufs[buffer], self.registers[buffer]
        first = self.offset(buf, s.acc.index)
        assert (first == first[0]).all(), "registers whose numbers differ among lanes"
        v = np.arange(s.atom.m * s.atom.n // (LANES * GROUP_WARPS))
        places = first[0] + s.row * (v // 2 % 2) + s.column * (v // 4 * 2 + v % 2)
        assert places.max() < buf.elements, "an atom's result is larger than its registers"
        lane = np.arange(LANES)[:, None]
        keep = s.keep is None or self.uniform(s.keep) != 0
        row, column = lane // 4 + 8 * (v // 2 % 2), v // 4 * 8 + lane % 4 * 2 + v % 2

        def into(part: Array) -> None:
            before = rows[:, places] if keep else np.zeros_like(rows[:, places])
            rows[:, places] = kept(s.atom, before + part[row, column])

        sides = []
        for m in s.shared:
            element = self.place(self.bufs[m.buffer], m.index)
            assert (element == element[0]).all(), "a descriptor that differs among lanes"
            start = self.block.shared.address(m.buffer, int(element[0]))
            sides.append(Descriptor.of(m, start))
        warp = self.number % GROUP_WARPS
        held = {warp: self.held_rows(s)} if s.held else {}
        issue = Issue(s.atom, None if held else sides[0], sides[-1], held)
        self.queue.issue(warp, self.issued, issue, into)
        self.issued += 1
        for place in s.held:
            # they must not change before the atom has run
            self.results[place.buffer][self.offset(self.bufs[place.buffer], place.index)] = self.issued
        self.results[buffer][places] = self.issued
