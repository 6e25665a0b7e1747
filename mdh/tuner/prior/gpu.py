"""The terms of one stage on a GPU. Sources of the figures: the ladders and chip numbers of public kernels
(CUTLASS, siboehm's SGEMM, DeepGEMM's layout model), the CUDA C++ Programming Guide on banks and sectors.
AHEAD, GUARD, LOCAL_BYTES and the times of launches are rounded from four spaces measured in full on an H200.
"""

from dataclasses import dataclass
from math import ceil, prod, sqrt

from mdh.hardware import Combine, Engine, Space
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.occupancy import registers_at, resident
from mdh.tuner.prior.guards import cuts
from mdh.tuner.prior.model import Signs
from mdh.tuner.prior.nest import GRID, LANE, LOOP, Copy, Level, Nest, View
from mdh.tuner.prior.reuse import fetched, streams_of
from mdh.tuner.prior.warp import WORD, global_cycles, lane_offsets, turns

TERMS = (
    "arithmetic", "issue", "shared", "l1", "l2", "dm", "latency", "spills", "combine", "launch",
)  # fmt: skip
ISSUES = 4
"""Warp instructions that a multiprocessor starts in a cycle."""
SPARE_REGISTERS = 26
"""Addresses, counters and temporaries beside declared registers: fits the registers of compiled products."""
WIDE = 16
"""Bytes of the widest access of a thread."""
L2_BYTES = 46.0
"""Bytes a cycle and multiprocessor that the second-level cache delivers, all of them asking."""
L1_BYTES = 64.0
LOCAL_BYTES = 16.0
"""Of a thread's own memory, where all threads of a multiprocessor have more of it than caches do."""
FAR, NEAR, ALU = 600.0, 30.0, 4.5
"""Cycles until a load from beyond the first-level cache, one from shared memory and an addition are done."""
AHEAD = 8.0
"""Iterations of a loop whose loads compilers start before they wait for the first."""
GUARD = 1.0
"""What a guarded point costs more than a plain one."""
BARRIER = 40.0
"""Cycles."""
LAUNCH, FIRST_LAUNCH = 3e-6, 6e-6
"""Seconds of starting a kernel after another one, and of the first."""
CODE = 8192
"""Unrolled statements above which compilers take minutes."""


@dataclass(frozen=True, slots=True)
class Block:
    """threads of a block; resident: blocks a multiprocessor holds; registers: 32-bit, a thread; spilled:
    bytes; homeless: results are more than a thread has registers for, and lie in memory as a whole."""

    threads: int
    warps: int
    resident: int
    registers: int
    spilled: int
    homeless: bool


@dataclass(frozen=True, slots=True)
class Body:
    """Straight code of a thread: levels of it, how often it runs in a thread, points in one run."""

    levels: tuple[Level, ...]
    times: float
    points: int
    around: Level | None


def gpu_terms(nest: Nest, machine: Machine) -> tuple[tuple[float, ...], Signs]:
    """Seconds of each of TERMS, the whole stage on all multiprocessors, at nominal speeds."""
    block, body = block_of(nest, machine), _body(nest)
    blocks, units = nest.blocks, machine.units
    cycle = 1.0 / machine.clock
    busiest = ceil(blocks / units)
    waves = ceil(blocks / (units * block.resident))
    passes = 2.0 if nest.facts.scan else 1.0
    asked = _asked(nest, body, block, machine)
    per_block = block.warps * body.times
    rate = machine.peak_f32 / (2.0 * machine.clock * units * machine.warp)
    if nest.facts.is_float and nest.facts.value_bytes == 8:
        rate *= machine.peak_f64 / machine.peak_f32
    work = body.points * (nest.facts.fused + nest.facts.other)
    arithmetic = per_block * work / max(rate, 0.1)
    issue = per_block * (work + asked.instructions + 3.0) / ISSUES + asked.copies / ISSUES
    l2_bytes, dm_bytes = _traffic(nest, block, machine)
    guarded = _guarded(nest, waves)
    share = busiest * cycle * passes * guarded
    spilled = block.spilled * block.threads * 2.0 * max(1.0, body.times / 8.0) / L1_BYTES
    if block.homeless:
        spilled += body.times * body.points * block.threads * 2 * WORD / LOCAL_BYTES
    terms = (
        arithmetic * share,
        issue * share,
        asked.shared * share,
        asked.wavefronts * share,
        l2_bytes / (L2_BYTES * units) * cycle * passes * busiest * units / blocks,
        dm_bytes / (0.9 * machine.bandwidth) * passes,
        _latency(nest, body, block, asked) * waves * cycle * passes * guarded,
        spilled * share,
        _combining(nest, block, machine),
        FIRST_LAUNCH + LAUNCH * (_kernels(nest) - 1.0),
    )
    code = int(min(1e9, body.points * max(1, len(nest.views))))
    idle = max(0.0, 1.0 - blocks / units)
    return terms, Signs(block.spilled, idle, code)


def _guarded(nest: Nest, waves: int) -> float:
    """Time over that without guards. Cut blocks are the slow ones: where all run at once they decide."""
    extra = 0.0
    for cut in cuts(nest):
        if not cut.decided:
            extra += GUARD * (1.0 if waves == 1 else cut.share)
    return 1.0 + extra


def block_of(nest: Nest, machine: Machine) -> Block:
    threads = max(1, nest.block_threads)
    warps = -(-threads // machine.warp)
    held = nest.region.elements * max((r.width for r in nest.facts.results), default=4)
    if nest.facts.results[0].op is None and nest.region.region != Space.RM:
        held = 0
    words = -(-(held + nest.fragments) // 4)
    wanted = words + SPARE_REGISTERS
    limit = registers_at(machine, max(1, nest.plan.grid.occupancy) * warps)
    registers = max(16, min(wanted, limit))
    scratch = threads * 4 if any(Combine.SHARED in m for m in nest.plan.combines) else 0
    shared = nest.shared + scratch
    blocks = max(1, resident(machine, threads, registers, shared))
    spilled = max(0, wanted - limit) * WORD
    return Block(threads, warps, blocks, registers, spilled, held // WORD > limit)


def _body(nest: Nest) -> Body:
    k = len(nest.levels)
    while k > 0 and nest.levels[k - 1].unrolled and nest.levels[k - 1].role != GRID:
        k -= 1
    levels = nest.levels[k:]
    times = float(prod(v.parts for v in nest.levels[:k] if v.role != GRID))
    around = nest.levels[k - 1] if k and nest.levels[k - 1].role == LOOP else None
    return Body(levels, times, prod(v.parts for v in levels), around)


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


def _asked(nest: Nest, body: Body, block: Block, machine: Machine) -> Asked:
    instructions = copies = shared = wavefronts = far = near = 0.0
    runs = block.warps * body.times
    for view in nest.views:
        if view.region == Space.RM:
            continue
        n, width = _loads(nest, view, body)
        offsets = lane_offsets(nest.threads, view.strides, machine.warp)
        instructions += n
        if view.region == Space.SM:
            shared += n * runs * turns(offsets, width, machine.warp)
            near += n
        else:
            wavefronts += n * runs * global_cycles(offsets, width, machine.warp)
            far += 0.0 if view.access.store else n
    for copy in nest.copies:
        c = _copied(nest, copy, block, machine)
        copies, shared, wavefronts = copies + c[0], shared + c[1], wavefronts + c[2]
    return Asked(instructions, copies, shared, wavefronts, far, near)


def _loads(nest: Nest, view: View, body: Body) -> tuple[float, int]:
    """(accesses of a thread in a run of the body, bytes of each): neighbours go together, 16 bytes at
    most."""
    reduces = nest.facts.results[0].op is not None
    written = {v.access.buffer for v in nest.views if v.access.store}
    size = view.access.size
    if reduces and view.access.buffer in written:
        runs = prod(v.parts for v in nest.levels[: nest.region.opens] if v.role != GRID)
        n = nest.region.elements * runs / body.times
        if not view.access.store and not any(r.updated for r in nest.facts.results):
            n = 0.0
        elif view.access.store and nest.region.turns > 1:
            n *= 2.0
        return n, size
    n, width = float(view.access.count), size
    for v in body.levels:
        stride = view.strides[v.dim]
        if stride == 0:
            continue
        wide = stride is not None and stride * v.stride == size and width == size
        lanes = WIDE // size
        if wide and (v.role == LANE or view.region == Space.SM) and lanes > 1:
            take = min(lanes, v.parts & -v.parts)
            width, n = size * take, n * v.parts / take
        else:
            n *= v.parts
    if body.around is not None and view.strides[body.around.dim] == 0:
        n /= body.around.parts
    return n, width


def _copied(nest: Nest, copy: Copy, block: Block, machine: Machine) -> tuple[float, float, float]:
    """(warp instructions, cycles of shared memory, cycles of the first-level cache) of all runs of a copy."""
    runs = float(prod(v.parts for v in nest.levels[: copy.position] if v.role != GRID))
    size = copy.access.size
    if copy.staging.region == Space.RM:
        return _fragment(nest, copy, block, machine, runs)
    row = copy.extents[-1] * size
    vec = copy.staging.vec or (WIDE // size if row % WIDE == 0 else 1)
    vec = max(1, min(vec, WIDE // size))
    accesses = copy.elements / vec
    warps = max(1.0, accesses / min(machine.warp, block.threads))
    step = copy.rows[-1] * (1 if copy.straight else vec)
    offsets = [k * step for k in range(min(machine.warp, max(1, copy.extents[-1] // vec)))]
    if copy.staging.swizzle or copy.straight:
        stores = max(1.0, vec * size / 4)
    else:
        stores = turns(offsets, size, machine.warp) * vec * machine.warp / max(1, len(offsets))
        stores = min(stores, 32.0 * vec)
    rows = copy.elements / max(1, copy.extents[-1])
    asked = rows * max(32.0, row)
    loads = 1.0 if copy.staging.engine != Engine.PLAIN else 2.0
    instructions = runs * warps * (loads + (0.0 if copy.straight else vec) + 1.0)
    return instructions, runs * warps * stores, runs * asked / L1_BYTES


def _fragment(
    nest: Nest, copy: Copy, block: Block, machine: Machine, runs: float
) -> tuple[float, float, float]:
    """Registers filled from shared memory or from global memory, each thread its own."""
    size = copy.access.size
    inside = [v for v in nest.levels[copy.position :] if (copy.strides[v.dim] or 0) * v.stride == size]
    best = max((v.parts & -v.parts for v in inside), default=1)
    vec = max(1, min(best, WIDE // size))
    n = copy.elements / vec
    offsets = lane_offsets(nest.threads, copy.strides, machine.warp)
    warps = block.warps * runs * n
    if copy.source == Space.SM:
        return warps, warps * turns(offsets, size * vec, machine.warp), 0.0
    return warps, 0.0, warps * global_cycles(offsets, size * vec, machine.warp)


def _traffic(nest: Nest, block: Block, machine: Machine) -> tuple[float, float]:
    """(bytes between first and second-level cache, bytes of device memory), of all blocks, warm."""
    streams = streams_of(nest, block=True)
    l1 = max(16384, machine.caches[0] - nest.shared * block.resident) / block.resident
    grid = len(nest.grid)
    near = fetched(nest, streams, 0.6 * l1, floor=grid)
    whole = [s.boxes[0].bytes for s in streams if not s.local]
    l2 = 0.6 * machine.caches[-1]
    total = sum(whole)
    missing = min(1.0, max(0.0, (total - l2) / l2))
    again = _waves(nest, block, machine)
    dm = 0.0
    for s, n in zip(streams, near, strict=True):
        if not s.local:
            least = s.boxes[0].bytes
            dm += max(least, min(n, again * s.boxes[grid].bytes)) if total > 2 * l2 else least
    return sum(n * (2.0 if s.scattered else 1.0) for s, n in zip(streams, near, strict=True)), dm * missing


def _waves(nest: Nest, block: Block, machine: Machine) -> float:
    """Blocks' worth of fresh data: a wave of blocks shares what its rows and columns have in common."""
    at_once = float(max(1, machine.units * block.resident))
    return max(1.0, nest.blocks / sqrt(at_once))


def _latency(nest: Nest, body: Body, block: Block, asked: Asked) -> float:
    """Cycles of one block alone: what its own instructions wait for one another."""
    cycles = 0.0
    for copy in nest.copies:
        runs = float(prod(v.parts for v in nest.levels[: copy.position] if v.role != GRID))
        wait = FAR if copy.source == Space.DM else NEAR
        if copy.staging.region == Space.SM:
            # a block stages several buffers at once: they share the wait
            rounds = max(1.0, copy.elements * copy.access.size / (block.threads * 4 * WIDE))
            cycles += (
                runs * ((wait + 40.0 * rounds) / (copy.slots if copy.slots > 1 else 1) + 2 * BARRIER) / 2
            )
        else:
            cycles += runs * wait / (2.0 if copy.slots > 1 else 1.0) / 2.0
    independent = 1.0
    reduces = nest.facts.results[0].op is not None
    if reduces:
        independent = max(1.0, min(8.0, float(nest.region.elements)))
    work = body.points * (nest.facts.fused + nest.facts.other)
    cycles += body.times * work * max(1.0, ALU / independent)
    if asked.far:
        cycles += body.times * (FAR / 2.0 / (1.0 if body.around is None else AHEAD) + asked.far * 2.0)
    if asked.near:
        cycles += body.times * NEAR / 2.0
    return cycles


def _combining(nest: Nest, block: Block, machine: Machine) -> float:
    """Seconds of joining partial results: trees in a block, atomics or a second kernel across the grid."""
    total = 0.0
    cycle = 1.0 / machine.clock
    width = max((r.width for r in nest.facts.results), default=4)
    reduced = prod(v.parts for v in nest.grid if nest.facts.kinds[v.dim] is not DimKind.CC)
    results = prod(n for n, k in zip(nest.facts.extents, nest.facts.kinds, strict=True) if k is DimKind.CC)
    waves = ceil(nest.blocks / (machine.units * block.resident))
    for methods in nest.plan.combines:
        for method in methods:
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
                    total += 2e-6
                case _:
                    moved = results * reduced * width * 2
                    total += moved / machine.bandwidth / 2 + reduced * 2e-9
    if nest.facts.scattered:
        held = any(h.region == Space.SM for s in nest.plan.steps for h in s.holdings)
        total += nest.facts.points * cycle / machine.units / (8 if held else 1)
    return total


def _kernels(nest: Nest) -> float:
    """Launches: the stage's own, and those that combine across blocks."""
    return 1.0 + sum(Combine.KERNEL in methods for methods in nest.plan.combines) * (
        2.0 if nest.facts.scan else 1.0
    )
