"""Plans of contractions on a GPU whose operands are both contiguous along one dimension of the sum, such as
the channels of a convolution with channels last.

Copies in shared memory keep the order of their source. A thread reads vectors along the sum, and multiplies
as many iterations at a time. The lanes of a side take the elements of their dimension by turns, so that
neighbouring lanes read neighbouring rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

from mdh.cost.gpu import VECTORS, WORD, Joining, Work, resident, seconds, warps_of
from mdh.hardware import Layer, Space
from mdh.machine import Machine
from mdh.schedule.default.contraction_atoms import PARTS
from mdh.schedule.default.contraction_boxes import RESULTS, THREADS, BoxSide, first, sides
from mdh.schedule.default.grid import block_axes, ceil_div
from mdh.schedule.default.ladder import BlockTile
from mdh.schedule.default.ladder_plans import (
    LadderTiling,
    held_registers,
    in_parts,
    may_share,
    planned,
    registers_of,
)
from mdh.schedule.default.operands import (
    BOX_COPIES,
    Contraction,
    asynchronous,
    blocks_step,
    copy_instructions,
    is_product,
)
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Mem, Unit

DEEP = 4
"""Iterations of the sum that a thread reads at once."""
DEPTH = 16
"""Iterations of the contiguous dimension that a block stages at once, if it stages no window whole."""
WHOLE = (4, 8)
"""The same, if it does."""
SHARED = 48 * 1024
"""Bytes of shared memory that every GPU gives a block by default."""
UNROLLED = 4096
"""The most multiplications of a slice that are written out, lest the instruction cache overflow."""
BURST, SCATTERED = 64, 0.75
"""As in `contraction_gpu`: bytes side by side that are stored at full speed, and how much slower others
are."""
BANKS = 32
"""Words that shared memory gives a multiprocessor in a cycle."""
KEPT = 24
"""Boxes that are looked at with every slice and number of parts: those with the best estimates for the
machine as it is, and for one that they fill."""


@dataclass(frozen=True, slots=True)
class SumVectors:
    """A contraction with dimension `k` of its sum along which both operands are contiguous."""

    found: Contraction
    k: int


def find_vectors(shape: Shape, found: Contraction) -> SumVectors | None:
    """None if the operands are not contiguous along a common dimension of the sum, or too wide."""
    near = {_contiguous(shape, b, found) for b in (found.first, found.second)}
    k = near.pop()
    wide = shape.value_bytes > WORD or any(
        shape.element_bytes(b) != WORD for b in (found.first, found.second)
    )
    if near or k is None or wide or shape.keeps_order or found.first == found.second or is_product(found):
        return None
    return SumVectors(found, k)


def _contiguous(shape: Shape, buffer: str, found: Contraction) -> int | None:
    last = shape.reads_of(buffer)[0].index[-1]
    moved = [d for d, dim in enumerate(shape.stage.dims) if last is not None and dim.name in last.names]
    return moved[0] if len(moved) == 1 and moved[0] in found.reduced else None


def best_vector_plan(
    shape: Shape, vectors: SumVectors, machine: Machine, joining: Joining
) -> tuple[ScheduleBuilder, float] | None:
    """The steps of the plan with the best estimate, in seconds; None if no plan fits."""

    def time(one: tuple[SumVectors, LadderTiling]) -> float:
        return seconds(work_of(shape, *one, machine), machine, VECTORS)

    best = min(vector_plans(shape, vectors, machine, joining), key=time, default=None)
    if best is None:
        return None
    outline = outline_of(shape, *best, machine)
    outline.estimate = lambda there: seconds(work_of(there, *best, machine), machine, VECTORS)
    return outline, time(best)


def vector_plans(
    shape: Shape, vectors: SumVectors, machine: Machine, joining: Joining
) -> Iterator[tuple[SumVectors, LadderTiling]]:
    """The plans that fit, and the contraction with the dimensions of the lanes first."""
    for rows, columns in _liked(shape, vectors, machine):
        for slices in _slices(shape, vectors):
            turned, make = _plan(shape, vectors, machine, rows, columns, slices)
            shared = may_share(shape, turned.found, machine, {**rows.block, **columns.block})
            for plan in in_parts(make, joining, PARTS if shared else (1,)):
                if _shared(shape, turned, plan) <= SHARED:
                    yield turned, plan


def _liked(shape: Shape, vectors: SumVectors, machine: Machine) -> list[tuple[BoxSide, BoxSide]]:
    found = vectors.found
    slices = _slices(shape, vectors)[0]
    fitting, times = list[tuple[BoxSide, BoxSide]](), list[tuple[float, float]]()
    for rows, columns in product(sides(shape, found.rows), sides(shape, found.columns)):
        own, threads = (rows.held, columns.held), rows.lanes * columns.lanes
        few = (
            RESULTS[0] <= prod(own) <= RESULTS[1]
            and held_registers(shape, found, DEEP, own) <= machine.registers_per_thread
        )
        if few and THREADS[0] <= threads <= min(THREADS[1], machine.threads_per_block):
            turned, make = _plan(shape, vectors, machine, rows, columns, slices)
            plan = make(1)
            if plan is not None:
                work = work_of(shape, turned, plan, machine)
                full = replace(work, blocks=machine.units * work.resident)
                alone = seconds(full, machine, VECTORS) * work.blocks / full.blocks
                fitting.append((rows, columns))
                times.append((seconds(work, machine, VECTORS), alone))
    kept = set[int]()
    for times_of in zip(*times, strict=True):
        kept |= set(sorted(range(len(fitting)), key=times_of.__getitem__)[:KEPT])
    return [fitting[n] for n in sorted(kept)]


def _plan(
    shape: Shape,
    vectors: SumVectors,
    machine: Machine,
    rows: BoxSide,
    columns: BoxSide,
    slices: Mapping[int, int],
) -> tuple[SumVectors, partial[LadderTiling | None]]:
    """The contraction with the dimensions of the lanes first, and what makes the plan of so many parts."""
    found = vectors.found
    turned = replace(found, rows=first(found.rows, rows.lane), columns=first(found.columns, columns.lane))
    block = {**dict.fromkeys(found.batch, 1), **rows.block, **columns.block}
    thread = {rows.lane: rows.own, columns.lane: columns.own}
    tile = BlockTile((rows.size, columns.size), (0, 0), (rows.held, columns.held), DEPTH)
    make = partial(planned, shape, turned, machine, tile, block, thread, slices=slices)
    return replace(vectors, found=turned), make


def _slices(shape: Shape, vectors: SumVectors) -> list[dict[int, int]]:
    """What a block stages at once: some of the contiguous dimension at single points of the others, whole
    windows with few of it, or a row of a window."""
    extents, k = shape.extents, vectors.k
    others = [d for d in vectors.found.reduced if d != k]
    out = [{**dict.fromkeys(others, 1), k: min(extents[k], DEPTH)}]
    if others:
        whole = {d: extents[d] for d in others}
        out += [{**whole, k: min(extents[k], n)} for n in WHOLE]
        out.append({**whole, others[0]: 1, k: min(extents[k], DEPTH)})
    return [dict(one) for one in dict.fromkeys(tuple(one.items()) for one in out)]


def _copies(shape: Shape, vectors: SumVectors, plan: LadderTiling, machine: Machine) -> dict[str, Mem]:
    row = plan.slices[vectors.k]
    attrs = (attribute("pad", _row(row) - row),) if _row(row) > row else ()
    return {
        b: asynchronous(
            shape, staged(shape, b, Space.SM, len(shape.reads_of(b)[0].index) - 1, *attrs), machine
        )
        for b in (vectors.found.first, vectors.found.second)
    }


def _row(elements: int) -> int:
    """A row of so many elements in shared memory: an odd number of vectors, so that lanes that read rows side
    by side read from different banks."""
    return (ceil_div(elements, DEEP) | 1) * DEEP


def _shared(shape: Shape, vectors: SumVectors, plan: LadderTiling) -> int:
    """Bytes of the copies of a block."""
    tiles = {**plan.block, **plan.slices}
    row = plan.slices[vectors.k]
    both = sum(shape.boxes[b].elements(tiles) for b in (vectors.found.first, vectors.found.second))
    return _slots(shape, plan) * both * _row(row) // row * WORD


def _slots(shape: Shape, plan: LadderTiling) -> int:
    """Two if one loop goes through the slices, which then copies ahead."""
    loops = [d for d, t in plan.slices.items() if t < (plan.part if d == plan.k else shape.extents[d])]
    return 2 if len(loops) == 1 else 1


def outline_of(shape: Shape, vectors: SumVectors, plan: LadderTiling, machine: Machine) -> ScheduleBuilder:
    """The steps of a plan."""
    found, outline = vectors.found, ScheduleBuilder(shape)
    axes = block_axes(plan.first, shape.extents, machine, found.columns[0])
    blocks_step(shape, outline, plan, axes, (), gathered=False)
    stages = (attribute("stages", 2),) if _slots(shape, plan) == 2 else ()
    outline.step(plan.slices, entries=held(shape) | _copies(shape, vectors, plan, machine), attrs=stages)
    units = {
        d: Unit(Layer.THR, a) for d, a in zip((found.rows[0], found.columns[0]), ("y", "x"), strict=True)
    }
    outline.step(plan.thread, units, cyclic=dict.fromkeys(units, 1))
    fragments = {b: staged(shape, b, Space.RM) for b in (found.first, found.second)}
    single = dict.fromkeys(found.reduced, 1)
    unroll = (attribute("unroll"),)
    body = prod(plan.slices.values()) * prod(plan.tile.thread)
    outline.step({**single, vectors.k: DEEP}, entries=fragments, attrs=unroll if body <= UNROLLED else ())
    outline.step(single, attrs=unroll)
    return outline


def work_of(shape: Shape, vectors: SumVectors, plan: LadderTiling, machine: Machine) -> Work:
    """The quantities that a plan's time depends on."""
    found, size = vectors.found, shape.value_bytes
    high, wide = plan.tile.thread
    lanes = [ceil_div(plan.block[d], plan.thread[d]) for d in (found.rows[0], found.columns[0])]
    threads = prod(lanes)
    whole = {d: shape.extents[d] for d in found.reduced}
    depth = prod(ceil_div(t, DEEP) * DEEP if d == vectors.k else t for d, t in plan.slices.items())
    tiles = {**plan.block, **plan.slices}
    copies = _copies(shape, vectors, plan, machine)
    copied = sum(copy_instructions(shape, c, tiles, BOX_COPIES) for c in copies.values()) / threads
    counts = sorted((ceil_div(shape.extents[d], t) for d, t in plan.block.items()), reverse=True)
    axes = 3 if plan.parts == 1 else 2
    sums = {**whole, plan.k: plan.part}
    written = prod(n for d, n in enumerate(shape.extents) if d not in whole) * size
    read = sum(shape.footprints[b] for b in (found.first, found.second)) * size
    apart = max(1.0, BURST / size / lanes[1]) ** SCATTERED
    in_warp = min(lanes[0], ceil_div(machine.warp, lanes[1])), min(lanes[1], machine.warp)
    # lanes with the same address share its words
    cycles = sum(own * max(1.0, n * DEEP / BANKS) for own, n in zip((high, wide), in_warp, strict=True))
    registers = registers_of(DEEP, 1, plan.tile.thread)
    return Work(
        size, warps_of(machine, threads),
        resident=resident(machine, threads, registers, _shared(shape, vectors, plan)),
        blocks=plan.parts * prod(counts[:axes]),
        slices=prod(counts[axes:]) * prod(ceil_div(sums[d], t) for d, t in plan.slices.items()),
        multiplies=depth * high * wide,
        vectors=depth / DEEP * (high + wide),
        words=depth / DEEP * cycles,
        loops=depth / DEEP,
        copied=copied,
        results=high * wide * apart,
        moved=read + round(written * apart),
        written=round(written * apart),
        parts=plan.parts,
        joining=plan.joining,
    )  # fmt: skip
