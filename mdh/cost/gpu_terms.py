"""The terms of one stage on a GPU. Sources of the figures: the ladders and chip numbers of public kernels
(CUTLASS, siboehm's SGEMM, DeepGEMM's layout model), the CUDA C++ Programming Guide on banks and sectors.
AHEAD, GUARD, LOCAL_BYTES and the times of launches are rounded from four spaces measured in full on an H200.
"""

from dataclasses import dataclass
from math import ceil, prod, sqrt

from mdh.cost.atom_terms import AtomLoop, atom_loop, tensor_cycles
from mdh.cost.gpu import VECTOR_BYTES, WORD, busiest, multiply_rate, resident, transfer, warps_of
from mdh.cost.nest import LANE, AccessView, Body, CostNest, StagedFill, body_of, cuts
from mdh.cost.prediction import Signs
from mdh.cost.reuse import fetched, streams_of
from mdh.cost.warp import global_cycles, lane_offsets, shared_cycles
from mdh.hardware import Combine, Engine, Space
from mdh.ir.program import DimKind
from mdh.occupancy import registers_at

ISSUES = 4
"""Warp instructions that a multiprocessor starts in a cycle."""
SPARE_REGISTERS = 26
"""Addresses, counters and temporaries beside declared registers: fits the registers of compiled products."""
L1_BYTES, L2_BYTES = 64.0, 64.0
"""Bytes a cycle that a multiprocessor gets from the first-level cache, and from the second one: the width of
the path between them."""
LOCAL_BYTES = 16.0
"""Of a thread's own memory, where all threads of a multiprocessor have more of it than caches do."""
REACHED = 0.9
"""Share of the memory's bandwidth that a stage reaches at best."""
FAR, NEAR, ALU = 600.0, 30.0, 4.5
"""Cycles until a load from beyond the first-level cache, one from shared memory and an addition are done."""
AHEAD = 8.0
"""Iterations of a loop whose loads compilers start before they wait for the first."""
GUARD = 1.0
"""What a guarded point costs more than a plain one."""
BARRIER = 40.0
"""Cycles."""
TICKETS = 2e-6
"""Seconds until blocks that draw tickets have met."""
LAUNCH, FIRST_LAUNCH = 3e-6, 6e-6
"""Seconds of starting a kernel after another one, and of the first."""


@dataclass(frozen=True, slots=True)
class Residency:
    """threads of a block; resident: blocks that a multiprocessor holds at once; spilled: bytes of a thread
    that do not fit into registers; accumulators_spilled: its partial results alone do not, so that all of
    them lie in memory."""

    threads: int
    warps: int
    resident: int
    spilled: int
    accumulators_spilled: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """Of memory. instructions: loads and stores of a thread in a run of the body; copies: warp instructions
    of a block's copies; shared, wavefronts: cycles of a block at shared memory and at the first-level cache;
    far: loads of a thread from beyond it in a run of the body; near: from shared memory."""

    instructions: float
    copies: float
    shared: float
    wavefronts: float
    far: float
    near: float


def gpu_terms(nest: CostNest) -> tuple[tuple[float, ...], Signs]:
    """Seconds of each of the terms (see `mdh.cost.prediction`), of the whole stage on all multiprocessors, at
    nominal speeds."""
    machine, work, atoms = nest.machine, nest.work, atom_loop(nest)
    body, block = body_of(nest) if atoms is None else atoms.body, block_of(nest, atoms)
    times = nest.runs(body.start)
    cycle, passes = 1.0 / machine.clock, 2.0 if work.scan else 1.0
    # of its tiles; where blocks share the iterations of all, parts of tiles
    blocks = busiest(machine, nest.blocks)
    most = nest.blocks / machine.units if nest.plan.streamed else blocks
    waves = ceil(nest.blocks / (machine.units * block.resident))
    asked = _asked(nest, body, block, frozenset() if atoms is None else atoms.buffers())
    rate = multiply_rate(machine, double=work.is_float and work.value_bytes == 8)
    instructions = body.points * (work.fused + work.other) if atoms is None else atoms.instructions
    multiplying = block.warps * times * instructions / max(rate, 0.1)
    if atoms is not None:
        multiplying = tensor_cycles(nest, atoms, times, block.warps, min(block.resident, blocks))
    issue = block.warps * times * (instructions + asked.instructions + 3.0) + asked.copies
    near_bytes, far_bytes = _traffic(nest, block)
    guarded = _guarded(nest, waves)
    share = most * cycle * passes * guarded
    terms = (
        multiplying * share,
        issue / ISSUES * share,
        asked.shared * share,
        asked.wavefronts * share,
        near_bytes / L2_BYTES * cycle * passes * most / nest.blocks,
        transfer(machine, far_bytes, REACHED) * passes,
        _latency(nest, body, block, asked, atoms) * waves * cycle * passes * guarded,
        _spilled(body, block, times) * share,
        _combining(nest, block, waves),
        FIRST_LAUNCH + LAUNCH * _joining_kernels(nest),
    )
    points = body.points if atoms is None else atoms.atoms
    code = int(min(1e9, points * max(1, len(nest.views))))
    return terms, Signs(block.spilled, max(0.0, 1.0 - nest.blocks / machine.units), code)


def _guarded(nest: CostNest, waves: int) -> float:
    """Time over that without guards. Cut blocks are the slow ones: where all run at once they decide."""
    tested = (1.0 if waves == 1 else cut.share for cut in cuts(nest) if not cut.decided)
    return 1.0 + GUARD * sum(tested)


def block_of(nest: CostNest, atoms: AtomLoop | None = None) -> Residency:
    machine, tiles = nest.machine, nest.plan.tiles
    threads = prod(v.parts for v in nest.threads)
    warps = warps_of(machine, threads)
    held = sum(hold.tile.room for hold in tiles.holds if hold.tile.space is Space.RM)
    fragments = 0 if atoms is None else atoms.registers
    wanted = -(-tiles.bytes_in(Space.RM) // WORD) + fragments + SPARE_REGISTERS
    limit = registers_at(machine, max(1, nest.plan.grid.occupancy) * warps)
    registers = max(16, min(wanted, limit))
    scratch = threads * WORD if any(Combine.SHARED in m for m in nest.plan.combines) else 0
    blocks = resident(machine, threads, registers, tiles.bytes_in(Space.SM) + scratch)
    return Residency(threads, warps, blocks, max(0, wanted - limit) * WORD, held // WORD > limit)


def _spilled(body: Body, block: Residency, times: float) -> float:
    """Cycles of a block at registers that lie in memory."""
    cycles = block.spilled * block.threads * 2.0 * max(1.0, times / 8.0) / L1_BYTES
    if block.accumulators_spilled:
        cycles += times * body.points * block.threads * 2 * WORD / LOCAL_BYTES
    return cycles


def _asked(nest: CostNest, body: Body, block: Residency, factors: frozenset[str]) -> Asked:
    """factors: buffers that atoms read, which are counted with them."""
    instructions = copies = shared = wavefronts = far = near = 0.0
    runs, warp = block.warps * nest.runs(body.start), nest.machine.warp
    for view in nest.views:
        if view.region is Space.RM or (view.access.buffer in factors and not view.access.store):
            continue
        n, width = loads_of(nest, view, body)
        offsets = lane_offsets(nest, view, warp)
        instructions += n
        if view.region is Space.SM:
            shared += n * runs * shared_cycles(offsets, width, warp)
            near += n
        else:
            wavefronts += n * runs * global_cycles(offsets, width, warp)
            far += 0.0 if view.access.store else n
    for copy in nest.copies:
        of_copy = _fragment if copy.node.tile.space is Space.RM else _staged
        c = of_copy(nest, copy, block)
        copies, shared, wavefronts = copies + c[0], shared + c[1], wavefronts + c[2]
    return Asked(instructions, copies, shared, wavefronts, far, near)


def loads_of(nest: CostNest, view: AccessView, body: Body) -> tuple[float, int]:
    """(accesses of a thread in a run of the body, bytes of each): neighbours go together, 16 bytes at
    most."""
    size = view.access.size
    if nest.work.reduces and view.access.buffer in nest.work.stage.written:
        n = nest.region.elements * nest.runs(nest.region.opens) / nest.runs(body.start)
        if not view.access.store:
            return n if nest.work.updated else 0.0, size
        return n * (2.0 if nest.region.merges > 1 else 1.0), size
    n, width = float(len(view.access.members)), size
    lanes = VECTOR_BYTES // size
    for v in body.levels:
        if view.stride(v) == 0:
            continue
        wide = view.stride(v) == size == width and lanes > 1
        if wide and (v.role == LANE or view.region is Space.SM):
            take = min(lanes, v.parts & -v.parts)
            width, n = size * take, n * v.parts / take
        else:
            n *= v.parts
    if body.around is not None and view.stride(body.around) == 0:
        n /= body.around.parts
    return n, width


def _staged(nest: CostNest, copy: StagedFill, block: Residency) -> tuple[float, float, float]:
    """(warp instructions, cycles of shared memory, cycles of the first-level cache) of a copy into shared
    memory, each time that it runs."""
    tile, warp = copy.node.tile, nest.machine.warp
    runs, size, row = nest.runs(copy.position), copy.access.size, tile.shape[-1]
    if copy.node.engine is Engine.TMA:
        # one thread asks for all of it, and it goes past the first-level cache
        return runs, 0.0, 0.0
    vec = copy.vec or (VECTOR_BYTES // size if row * size % VECTOR_BYTES == 0 else 1)
    vec = max(1, min(vec, VECTOR_BYTES // size))
    warps = max(1.0, copy.elements / vec / min(warp, block.threads))
    step = tile.strides[-1] * size * (1 if copy.straight else vec)
    offsets = [k * step for k in range(min(warp, max(1, row // vec)))]
    if tile.swizzle or copy.straight:
        stores = max(1.0, vec * size / WORD)
    else:
        stores = min(shared_cycles(offsets, size, warp) * vec * warp / max(1, len(offsets)), 32.0 * vec)
    asked = copy.elements / max(1, row) * max(32.0, row * size)
    loads = 1.0 if copy.node.engine is not Engine.PLAIN else 2.0
    instructions = runs * warps * (loads + (0.0 if copy.straight else vec) + 1.0)
    return instructions, runs * warps * stores, runs * asked / L1_BYTES


def _fragment(nest: CostNest, copy: StagedFill, block: Residency) -> tuple[float, float, float]:
    """The same of registers that each thread fills with its own, from shared memory or from global memory."""
    size, warp = copy.access.size, nest.machine.warp
    inside = [v for v in nest.levels[copy.position :] if copy.source.stride(v) == size]
    vec = max(1, min(max((v.parts & -v.parts for v in inside), default=1), VECTOR_BYTES // size))
    warps = block.warps * nest.runs(copy.position) * copy.elements / vec
    offsets = lane_offsets(nest, copy.source, warp)
    if copy.node.source is Space.SM:
        return warps, warps * shared_cycles(offsets, size * vec, warp), 0.0
    return warps, 0.0, warps * global_cycles(offsets, size * vec, warp)


def _traffic(nest: CostNest, block: Residency) -> tuple[float, float]:
    """(bytes between first and second-level cache, bytes of device memory), of all blocks, warm."""
    machine, grid = nest.machine, len(nest.grid)
    streams = streams_of(nest, block=True)
    shared = nest.plan.tiles.bytes_in(Space.SM)
    l1 = max(16384, machine.caches[0] - shared * block.resident) / block.resident
    near = fetched(nest, streams, 0.6 * l1, floor=grid)
    l2 = 0.6 * machine.caches[-1]
    total = sum(s.boxes[0].bytes for s in streams if not s.local)
    # a wave of blocks shares what its rows and columns have in common
    again = max(1.0, nest.blocks / sqrt(max(1, machine.units * block.resident)))
    far = 0.0
    for s, n in zip(streams, near, strict=True):
        if not s.local:
            least = s.boxes[0].bytes
            far += max(least, min(n, again * s.boxes[grid].bytes)) if total > 2 * l2 else least
    missing = min(1.0, max(0.0, (total - l2) / l2))
    return sum(n * (2.0 if s.scattered else 1.0) for s, n in zip(streams, near, strict=True)), far * missing


def _latency(nest: CostNest, body: Body, block: Residency, asked: Asked, atoms: AtomLoop | None) -> float:
    """Cycles of one block alone: what its own instructions wait for one another."""
    cycles, times = 0.0, nest.runs(body.start)
    for copy in nest.copies:
        runs, slots = nest.runs(copy.position), copy.node.tile.slots
        wait = FAR if copy.node.source is Space.DM else NEAR
        if copy.node.tile.space is Space.SM:
            # a block stages several buffers at once: they share the wait
            rounds = max(1.0, copy.elements * copy.access.size / (block.threads * 4 * VECTOR_BYTES))
            cycles += runs * ((wait + 40.0 * rounds) / slots + 2 * BARRIER) / 2
        else:
            cycles += runs * wait / min(slots, 2) / 2.0
    if atoms is not None:
        return cycles + times * (NEAR + atoms.latency)
    independent = max(1.0, min(8.0, float(nest.region.elements))) if nest.work.reduces else 1.0
    cycles += times * body.points * (nest.work.fused + nest.work.other) * max(1.0, ALU / independent)
    if asked.far:
        cycles += times * (FAR / 2.0 / (1.0 if body.around is None else AHEAD) + asked.far * 2.0)
    if asked.near:
        cycles += times * NEAR / 2.0
    return cycles


def _combining(nest: CostNest, block: Residency, waves: int) -> float:
    """Seconds of joining partial results: trees in a block, atomics or a second kernel across the grid."""
    machine, kinds = nest.machine, nest.work.kinds
    total, cycle = 0.0, 1.0 / machine.clock
    reduced = prod(v.parts for v in nest.grid if kinds[v.dim] is not DimKind.CC)
    results = prod(d.extent for d in nest.work.stage.dims if d.kind is DimKind.CC)
    for method in (method for methods in nest.plan.combines for method in methods):
        match method:
            case Combine.SHUFFLE:
                total += 5 * NEAR * nest.region.elements * cycle * waves
            case Combine.SHARED:
                total += (5 * BARRIER + 10 * nest.region.elements * block.warps) * cycle * waves
            case Combine.CLUSTER:
                total += 10 * BARRIER * cycle * waves
            case Combine.ATOMIC:
                total += results * reduced * cycle / 64 + reduced * 2 * cycle
            case Combine.TICKET:
                total += TICKETS
            case _:
                moved = results * reduced * max(nest.work.widths) * 2
                total += moved / machine.bandwidth / 2 + reduced * 2e-9
    if nest.plan.streamed:
        total += TICKETS
    if nest.work.stage.scattered:
        held = any(h.region is Space.SM for s in nest.plan.steps for h in s.holdings)
        total += prod(nest.work.extents) * cycle / machine.units / (8 if held else 1)
    return total


def _joining_kernels(nest: CostNest) -> float:
    """Kernels that join the parts of blocks; of a scan each does with two."""
    joined = sum(Combine.KERNEL in methods for methods in nest.plan.combines)
    return joined * (2.0 if nest.work.scan else 1.0)
