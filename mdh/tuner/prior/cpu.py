"""The terms of one stage on a CPU: one work-item a work-group, a work-group a core at a time, OpenCL
vectors."""

from dataclasses import dataclass
from math import prod

from mdh.hardware import Space
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.tuner.prior.guards import cuts
from mdh.tuner.prior.model import Signs
from mdh.tuner.prior.nest import GRID, LANE, LOOP, Copy, Level, Nest, View
from mdh.tuner.prior.reuse import LINE, WAYS, Stream, fetched, streams_of, translated

TERMS = (
    "arithmetic", "loads", "chains", "spills", "loops", "packing", "guards", "l2", "l3", "dm", "jumps",
    "pages", "groups", "launch",
)  # fmt: skip
WIDTHS = (2, 4, 8, 16)
"""Lanes that OpenCL C has vectors of."""
CALLED = 32
"""Bytes of the widest vector that functions and conversions are called with."""
REGISTERS, WIDE_REGISTERS, WIDE = 16, 32, 64
"""Vector registers of AVX2, of AVX-512, and bytes of the latter's vectors."""
GUARD, SCALAR, DECIDED = 1.0, 1.5, 1.0
"""What a guarded point costs more than a plain one; a point of a vector that falls apart, more than one
lane; a vector whose guards the compiler decides, more than a whole one."""
ADDITION, SPILL = 4.0, 1.5
"""Cycles of a dependent addition; of loading and storing an accumulator that is in memory, beside others."""
WINDOW = 256
"""Instructions that wait in flight at once: what follows a short chain of additions begins beside it."""
DECODED = 1024
"""Instructions that run without being decoded again; more take FETCH cycles each."""
FETCH = 0.4
PIECE, STORED_PIECE = 8.0, 16.0
"""Cycles until a piece that no prefetch foresaw has come from beyond the second-level cache, others under
way."""
NEAR_PAGES, FAR_PAGES, LOOKUP, WALK = 64, 2048, 8.0, 40.0
"""Entries of the tables that translate addresses, and cycles where the first has none, where the second has
none."""
SCAN_PASSES = 3.5
"""What a scan over several work-groups takes of one by a single group: three kernels, none as simple."""
GROUP, SCANNED_GROUP = 6e-9, 4e-8
"""Seconds of starting a work-group; of a part of a scan, which one work-item joins to the others."""
UNROLLED = 512
"""Statements to which the lowering unrolls loops over registers; accumulators of more are memory."""


@dataclass(frozen=True, slots=True)
class Body:
    """The straight code inside the innermost loop that is left. levels: unrolled ones, lanes included.

    times: how often it runs; points: in one run; lanes: of the vectors it uses (1: scalar), along dim
    `along`.
    """

    levels: tuple[Level, ...]
    times: float
    points: int
    lanes: int
    along: int
    around: Level | None


def body_of(nest: Nest) -> Body:
    """Loops that would unroll to more than UNROLLED statements stay loops."""
    lanes = _lanes(nest)
    k, points = len(nest.levels), 1.0 / lanes
    while k > 0 and nest.levels[k - 1].unrolled and nest.levels[k - 1].role != GRID:
        points *= nest.levels[k - 1].parts
        if points > UNROLLED:
            break
        k -= 1
    levels = nest.levels[k:]
    times = float(prod(v.parts for v in nest.levels[:k]))
    around = nest.levels[k - 1] if k and nest.levels[k - 1].role == LOOP else None
    along = nest.levels[-1].dim if nest.levels else 0
    return Body(levels, times, prod(v.parts for v in levels), lanes, along, around)


def _lanes(nest: Nest) -> int:
    """Lanes of the vectors that the lowering finds: every access stays or moves on by one element."""
    lane = nest.lanes
    if lane is None:
        return _found_lanes(nest)
    if lane.parts not in WIDTHS or nest.facts.record or nest.facts.scan:
        return 1
    for view in nest.views:
        stride = view.strides[lane.dim]
        if stride is None or (stride * lane.stride not in (0, view.access.size)):
            return 1
        if view.access.store and stride == 0 and nest.facts.kinds[lane.dim] is DimKind.CC:
            return 1
    if nest.facts.called and lane.parts * nest.facts.value_bytes > CALLED:
        return 1
    return lane.parts


def _found_lanes(nest: Nest) -> int:
    """Lanes of vectors that the C compiler finds by itself: an innermost loop that all accesses follow.

    For sums it sometimes does and sometimes does not: two lanes stand for that.
    """
    if not nest.levels or nest.facts.scan or nest.facts.record or nest.facts.scattered:
        return 1
    last = nest.levels[-1]
    if last.role != LOOP or nest.facts.kinds[last.dim] is not DimKind.CC or last.parts < 4:
        return 1
    for view in nest.views:
        stride = view.strides[last.dim]
        if stride is None or stride * last.stride not in (0, view.access.size):
            return 1
    if nest.facts.results[0].op is not None:
        return 2
    return 8 if last.parts % 8 == 0 or last.parts > 32 else 4


def cpu_terms(nest: Nest, machine: Machine) -> tuple[tuple[float, ...], Signs]:
    """Seconds of each of TERMS, the whole stage on all cores, at nominal speeds; balance is in all of
    them."""
    facts, body = nest.facts, body_of(nest)
    cycle = 1.0 / machine.clock
    cores = min(machine.units, nest.blocks)
    share = _balance(nest.blocks, machine.units) / machine.units
    vectors = max(1.0, body.lanes * facts.value_bytes / machine.vector_bytes)
    work = body.points / body.lanes
    arithmetic = work * vectors * (facts.fused + facts.other) / 2.0
    arithmetic += facts.finished * facts.epilogue / (2.0 * body.times * body.lanes)
    loads, stores = _memory_operations(nest, body, machine)
    spilled, state = _spilled(nest, body, machine, loads)
    reduces = facts.results[0].op is not None
    chain = _chain(nest, body) / _overlap(nest, body, arithmetic + loads + stores) if reduces else 0.0
    passes = SCAN_PASSES if facts.scan and nest.blocks > 1 else 1.0
    per_core = body.times * share * cycle * passes
    packing = sum(_packing(nest, c, machine) for c in nest.copies) * share * cycle
    streams = streams_of(nest)
    l1, l2, l3 = (*machine.caches, *machine.caches[-1:] * 2)[:3]
    into1 = fetched(nest, streams, 0.8 * l1, l1 // LINE // WAYS)
    into2 = fetched(nest, streams, 0.8 * l2, l2 // LINE // WAYS)
    into3 = fetched(nest, streams, 0.7 * l3, warm=True)
    ops = arithmetic + loads + stores
    guarded = _guarded(nest, body)
    terms = (
        arithmetic * per_core,
        max(loads / 2.0, stores) * per_core,
        chain * per_core,
        spilled * per_core,
        (_loop_trips(nest, body) + _fetching(body, loads + stores)) * share * cycle,
        packing,
        guarded * ops * per_core,
        _cycles(streams, into1, 2.0, 4.0, 14.0) * share * cycle,
        _cycles(streams, into2, 5.0, 5.0, 5.0) * share * cycle,
        sum(b * (2 if s.store else 1) for b, s in zip(into3, streams, strict=True))
        / machine.bandwidth
        * max(1.0, _balance(nest.blocks, machine.units) / 2.0),
        _jumps(streams, into2) * share * cycle,
        (translated(nest, streams, NEAR_PAGES) * LOOKUP + translated(nest, streams, FAR_PAGES) * WALK)
        * share
        * cycle,
        nest.blocks * (SCANNED_GROUP if facts.scan else GROUP) * share * machine.units,
        1e-6 * passes,
    )
    idle = 1.0 - cores / machine.units
    versions = 2.0 ** sum(v.tail > 0 for v in nest.levels)
    code = int(min(1e9, body.points / body.lanes * max(1, len(nest.views)) * versions))
    return terms, Signs(int(state), idle, code)


def _balance(blocks: int, units: int) -> float:
    """Time of the core with most blocks over that of an even share."""
    return -(-blocks // units) * units / blocks


def _distinct(view: View, body: Body, machine: Machine) -> float:
    """Loads that a run of the body makes of a view: of different places, vectors of lanes as one."""
    n = float(view.access.count)
    for v in body.levels:
        stride = view.strides[v.dim]
        if stride is None or stride != 0:
            n *= v.parts
    if body.lanes > 1 and view.strides[body.along] != 0:
        n *= max(1.0, body.lanes * view.access.size / machine.vector_bytes) / body.lanes
    return n


def _memory_operations(nest: Nest, body: Body, machine: Machine) -> tuple[float, float]:
    """(loads, stores) of one run of the body; what does not move with the loop around it is hoisted."""
    loads = stores = 0.0
    reduces = nest.facts.results[0].op is not None
    for view in nest.views:
        if view.region == Space.RM:
            continue
        n = _distinct(view, body, machine)
        around = body.around
        held = reduces and (view.access.store or _same_as_output(nest, view))
        if held:
            runs = prod(v.parts for v in nest.levels[: nest.region.opens])
            each = nest.region.elements / body.lanes * runs / body.times
            if view.access.store:
                stores += each
                loads += each if nest.region.turns > 1 else 0.0
            else:
                loads += each
            continue
        if around is not None and view.strides[around.dim] == 0:
            n /= max(1, around.parts)
        if view.access.store:
            stores += n
        else:
            loads += n
    return loads, stores


def _same_as_output(nest: Nest, view: View) -> bool:
    return any(a.access.store and a.access.buffer == view.access.buffer for a in nest.views)


def _spilled(nest: Nest, body: Body, machine: Machine, loads: float) -> tuple[float, float]:
    """(cycles of a body's run, bytes) of accumulators that do not stay in registers."""
    if nest.facts.results[0].op is None:
        return 0.0, 0.0
    width = nest.facts.results[0].width
    per = max(width, min(machine.vector_bytes, body.lanes * width))
    held = nest.region.elements * width / per
    mine = prod(v.parts for v in body.levels if nest.facts.kinds[v.dim] is DimKind.CC)
    room = (WIDE_REGISTERS if machine.vector_bytes >= WIDE else REGISTERS) - 2.0
    over = max(0.0, held - room)
    every = prod(v.parts for v in nest.levels[nest.region.opens :] if nest.facts.kinds[v.dim] is DimKind.CC)
    indexed = held > UNROLLED or (held > 1.0 and mine < every)
    # one that is in memory draws the others after it: compilers keep the array as a whole, or little of it
    share = 1.0 if indexed else min(1.0, over / 2.0)
    return share * SPILL * body.points / body.lanes, over * per


def _chain(nest: Nest, body: Body) -> float:
    """Cycles of additions that wait for one another in a run of the body: those into one accumulator, and one
    accumulator after the other where the loop over them is further out than the instructions in flight
    reach."""
    kinds = nest.facts.kinds
    mine = [v for v in body.levels if v.role != LANE or body.lanes == 1]
    last = max((k for k, v in enumerate(mine) if kinds[v.dim] is not DimKind.CC), default=-1)
    return ADDITION * prod(v.parts for v in mine[: last + 1])


def _overlap(nest: Nest, body: Body, ops: float) -> float:
    """Chains that run at once: those of the next results begin while WINDOW instructions reach them."""
    if nest.region.turns > 1:
        # what is merged outward waits for the merge before it
        return 1.0
    runs = prod(v.parts for v in nest.levels[nest.region.opens :]) / body.points
    return 1.0 + WINDOW / max(1.0, runs * (2.0 * ops + 1.0))


def _packing(nest: Nest, copy: Copy, machine: Machine) -> float:
    """Cycles of all runs of a copy."""
    runs = prod(v.parts for v in nest.levels[: copy.position])
    wide = copy.straight and copy.extents[-1] * copy.access.size >= machine.vector_bytes
    lanes = machine.vector_bytes / copy.access.size if wide else 1.0
    return runs * (copy.elements / lanes * (1.0 if wide else 1.5) + 4.0)


def _guarded(nest: Nest, body: Body) -> float:
    """What guards cost, in times of the unguarded work: parts that the edge cuts test each point, and where
    it cuts the lanes they compute element by element."""
    extra = 0.0
    for cut in cuts(nest):
        if body.lanes > 1 and cut.level.dim == body.along:
            extra += cut.share * (DECIDED if cut.decided else SCALAR * body.lanes)
        elif not cut.decided:
            extra += cut.share * GUARD
    return extra


def _loop_trips(nest: Nest, body: Body) -> float:
    """Iterations of all loops that are not unrolled."""
    trips, total = 1.0, 0.0
    for v in nest.levels:
        trips *= v.parts
        if v.role == LOOP and not v.unrolled:
            total += trips
    return total


def _cycles(
    streams: tuple[Stream, ...], fetched_bytes: list[float], line: float, load: float, store: float
) -> float:
    """Cycles of fetching lines: of prefetched ones, and of scattered loads and stores."""
    total = 0.0
    for s, n in zip(streams, fetched_bytes, strict=True):
        each = line if not s.scattered else store if s.store else load
        total += n / LINE * each * (2.0 if s.store else 1.0)
    return total


def _jumps(streams: tuple[Stream, ...], fetched_bytes: list[float]) -> float:
    """Cycles of waiting for pieces of memory that begin where no prefetch expects it."""
    total = 0.0
    for s, n in zip(streams, fetched_bytes, strict=True):
        total += n / s.run * (STORED_PIECE if s.store else PIECE) * (2.0 if s.scattered else 1.0)
    return total


def _fetching(body: Body, memory: float) -> float:
    """Cycles of decoding a body that is larger than the store of decoded instructions."""
    code = body.points / body.lanes + memory
    return body.times * code * FETCH if code > DECODED else 0.0
