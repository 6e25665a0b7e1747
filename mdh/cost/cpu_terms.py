"""The terms of one stage on a CPU: one work-item a work-group, a work-group a core at a time, OpenCL
vectors."""

from math import prod

from mdh.cost.nest import LANE, LOOP, AccessView, Body, CostNest, StagedFill, body_of, cuts
from mdh.cost.prediction import Signs
from mdh.cost.reuse import LINE, WAYS, AccessStream, fetched, streams_of, translated
from mdh.cost.work import finished
from mdh.hardware import Space
from mdh.ir.program import DimKind

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


def cpu_terms(nest: CostNest) -> tuple[tuple[float, ...], Signs]:
    """Seconds of each of the terms (see `mdh.cost.prediction`), of the whole stage on all cores, at nominal
    speeds. A core with more work than others is counted in each of them."""
    work, machine = nest.work, nest.machine
    body, lanes = straight(nest)
    times, cycle = nest.trips[body.start], 1.0 / machine.clock
    balance = -(-nest.blocks // machine.units) * machine.units / nest.blocks
    share = balance / machine.units
    vectors = max(1.0, lanes * work.value_bytes / machine.vector_bytes)
    arithmetic = body.points / lanes * vectors * (work.fused + work.other) / 2.0
    arithmetic += finished(work.stage) * work.epilogue / (2.0 * times * lanes)
    loads, stores = _memory_operations(nest, body, lanes)
    operations = arithmetic + loads + stores
    spilled, state = _spilled(nest, body, lanes)
    chain = _chain(nest, body, lanes) / _overlap(nest, body, operations) if work.reduces else 0.0
    passes = SCAN_PASSES if work.scan and nest.blocks > 1 else 1.0
    per_core = times * share * cycle * passes
    streams = streams_of(nest)
    l1, l2, l3 = (*machine.caches, *machine.caches[-1:] * 2)[:3]
    into1 = fetched(nest, streams, 0.8 * l1, l1 // LINE // WAYS)
    into2 = fetched(nest, streams, 0.8 * l2, l2 // LINE // WAYS)
    into3 = fetched(nest, streams, 0.7 * l3, warm=True)
    moved = sum(b * (2 if s.store else 1) for b, s in zip(into3, streams, strict=True))
    pages = translated(nest, streams, NEAR_PAGES) * LOOKUP + translated(nest, streams, FAR_PAGES) * WALK
    terms = (
        arithmetic * per_core,
        max(loads / 2.0, stores) * per_core,
        chain * per_core,
        spilled * per_core,
        (_loop_trips(nest) + times * _decoding(body.points / lanes + loads + stores)) * share * cycle,
        sum(_packing(nest, c) for c in nest.copies) * share * cycle,
        _guarded(nest, lanes) * operations * per_core,
        _cycles(streams, into1, 2.0, 4.0, 14.0) * share * cycle,
        _cycles(streams, into2, 5.0, 5.0, 5.0) * share * cycle,
        moved / machine.bandwidth * max(1.0, balance / 2.0),
        _jumps(streams, into2) * share * cycle,
        pages * share * cycle,
        nest.blocks * (SCANNED_GROUP if work.scan else GROUP) * balance,
        1e-6 * passes,
    )
    versions = 2.0 ** sum(v.tail > 0 for v in nest.levels)
    code = int(min(1e9, body.points / lanes * max(1, len(nest.views)) * versions))
    return terms, Signs(int(state), 1.0 - min(machine.units, nest.blocks) / machine.units, code)


def straight(nest: CostNest) -> tuple[Body, int]:
    """The straight code inside the innermost loop that is left, and the lanes of its vectors (1: scalar)."""
    lanes = _lanes(nest)
    return body_of(nest, UNROLLED * lanes), lanes


def _lanes(nest: CostNest) -> int:
    """Lanes of the vectors that the lowering finds: every access stays or moves on by one element."""
    lane = next((v for v in nest.levels if v.role == LANE), None)
    if lane is None:
        return _found_lanes(nest)
    if lane.parts not in WIDTHS or nest.work.arg or nest.work.scan:
        return 1
    for view in nest.views:
        if view.stride(lane) not in (0, view.access.size):
            return 1
        if view.access.store and view.stride(lane) == 0 and nest.work.kinds[lane.dim] is DimKind.CC:
            return 1
    if nest.work.called and lane.parts * nest.work.value_bytes > CALLED:
        return 1
    return lane.parts


def _found_lanes(nest: CostNest) -> int:
    """Lanes of vectors that the C compiler finds by itself: an innermost loop that all accesses follow.

    For sums it sometimes does and sometimes does not: two lanes stand for that.
    """
    if not nest.levels or nest.work.scan or nest.work.arg or nest.work.stage.scattered:
        return 1
    last = nest.levels[-1]
    if last.role != LOOP or nest.work.kinds[last.dim] is not DimKind.CC or last.parts < 4:
        return 1
    if any(view.stride(last) not in (0, view.access.size) for view in nest.views):
        return 1
    if nest.work.reduces:
        return 2
    return 8 if last.parts % 8 == 0 or last.parts > 32 else 4


def _distinct(nest: CostNest, view: AccessView, body: Body, lanes: int) -> float:
    """Loads that a run of the body makes of a view: of different places, vectors of lanes as one."""
    n = float(len(view.access.members)) * prod(v.parts for v in body.levels if view.stride(v) != 0)
    if lanes > 1 and view.stride(nest.levels[-1]) != 0:
        n *= max(1.0, lanes * view.access.size / nest.machine.vector_bytes) / lanes
    return n


def _memory_operations(nest: CostNest, body: Body, lanes: int) -> tuple[float, float]:
    """(loads, stores) of one run of the body. What does not move with the loop around it is hoisted."""
    loads = stores = 0.0
    for view in nest.views:
        if view.region is Space.RM:
            continue
        if nest.work.reduces and view.access.buffer in nest.work.stage.written:
            n = nest.region.elements / lanes * nest.trips[nest.region.opens] / nest.trips[body.start]
            loads += n if view.access.store and nest.region.merges > 1 else 0.0
        else:
            n = _distinct(nest, view, body, lanes)
            if body.around is not None and view.stride(body.around) == 0:
                n /= body.around.parts
        if view.access.store:
            stores += n
        else:
            loads += n
    return loads, stores


def _spilled(nest: CostNest, body: Body, lanes: int) -> tuple[float, float]:
    """(cycles of a body's run, bytes) of accumulators that do not stay in registers."""
    if not nest.work.reduces:
        return 0.0, 0.0
    width, vector, kinds = nest.work.widths[0], nest.machine.vector_bytes, nest.work.kinds
    per = max(width, min(vector, lanes * width))
    held = nest.region.elements * width / per
    mine = prod(v.parts for v in body.levels if kinds[v.dim] is DimKind.CC)
    over = max(0.0, held - (WIDE_REGISTERS if vector >= WIDE else REGISTERS) + 2.0)
    every = prod(v.parts for v in nest.levels[nest.region.opens :] if kinds[v.dim] is DimKind.CC)
    indexed = held > UNROLLED or (held > 1.0 and mine < every)
    # one that is in memory draws the others after it: compilers keep the array as a whole, or little of it
    share = 1.0 if indexed else min(1.0, over / 2.0)
    return share * SPILL * body.points / lanes, over * per


def _chain(nest: CostNest, body: Body, lanes: int) -> float:
    """Cycles of additions that wait for one another in a run of the body: those into one accumulator, and one
    accumulator after the other where the loop over them is further out than the instructions in flight
    reach."""
    mine = [v for v in body.levels if v.role != LANE or lanes == 1]
    last = max((k for k, v in enumerate(mine) if nest.work.kinds[v.dim] is not DimKind.CC), default=-1)
    return ADDITION * prod(v.parts for v in mine[: last + 1])


def _overlap(nest: CostNest, body: Body, operations: float) -> float:
    """Chains that run at once: those of the next results begin while WINDOW instructions reach them."""
    if nest.region.merges > 1:
        # what is merged outward waits for the merge before it
        return 1.0
    runs = prod(v.parts for v in nest.levels[nest.region.opens :]) / body.points
    return 1.0 + WINDOW / max(1.0, runs * (2.0 * operations + 1.0))


def _packing(nest: CostNest, copy: StagedFill) -> float:
    """Cycles of all runs of a copy."""
    vector, size = nest.machine.vector_bytes, copy.access.size
    wide = copy.straight and copy.node.tile.shape[-1] * size >= vector
    return nest.trips[copy.position] * (copy.elements * (size / vector if wide else 1.5) + 4.0)


def _guarded(nest: CostNest, lanes: int) -> float:
    """What guards cost, in times of the unguarded work: parts that the edge cuts test each point, and where
    it cuts the lanes they compute element by element."""
    extra = 0.0
    for cut in cuts(nest):
        if lanes > 1 and cut.level.dim == nest.levels[-1].dim:
            extra += cut.share * (DECIDED if cut.decided else SCALAR * lanes)
        elif not cut.decided:
            extra += cut.share * GUARD
    return extra


def _loop_trips(nest: CostNest) -> float:
    """Iterations of all loops that are not unrolled."""
    levels = zip(nest.levels, nest.trips[1:], strict=True)
    return sum(trips for v, trips in levels if v.role == LOOP and not v.unrolled)


def _decoding(code: float) -> float:
    """Cycles of a run of a body of so many instructions, if the store of decoded ones does not hold it."""
    return code * FETCH if code > DECODED else 0.0


def _cycles(
    streams: tuple[AccessStream, ...], fetched_bytes: list[float], line: float, load: float, store: float
) -> float:
    """Cycles of fetching lines: of prefetched ones, and of scattered loads and stores."""
    total = 0.0
    for s, n in zip(streams, fetched_bytes, strict=True):
        each = line if not s.scattered else store if s.store else load
        total += n / LINE * each * (2.0 if s.store else 1.0)
    return total


def _jumps(streams: tuple[AccessStream, ...], fetched_bytes: list[float]) -> float:
    """Cycles of waiting for pieces of memory that begin where no prefetch expects it."""
    total = 0.0
    for s, n in zip(streams, fetched_bytes, strict=True):
        total += n / s.run * (STORED_PIECE if s.store else PIECE) * (2.0 if s.scattered else 1.0)
    return total
