"""Stages that read constant arrays: loops over the constants become code, another dimension is parallel.

Each thread, or vector lane on a CPU, computes all results that the constants' dimensions tell apart. It holds
them in registers, with the elements of the other arrays that these loops read again and again.
"""

from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.constant_loads import MOST_COPIES, MOST_LEFT, constant_dims, copies_left, is_constant
from mdh.ir.expr import Load, walk
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, power_up, round_up
from mdh.schedule.default.map import GROUPS_PER_CORE, native_lanes, outer_tiles
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, stageable, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import ForEntry, Mem, Unit

THREADS = 128
MOST_HELD = 64
"""The most results, and the most elements of an input, that a thread holds in registers."""
LEAST = 32
"""The least extent of the parallel dimension."""
VECTOR_REGISTERS = {64: 32}
"""Of a CPU by the bytes of its vectors; others have 16."""


def by_constants(shape: Shape, machine: Machine) -> ScheduleBuilder | None:
    """The steps; None if the stage reads no constants, or they leave too much code or nothing parallel."""
    names = constant_dims(shape.program, shape.stage)
    inner = [d for d, dim in enumerate(shape.stage.dims) if dim.name in names and dim.extent > 1]
    results = [d for d in inner if shape.stage.dims[d].kind is DimKind.CC]
    x = _parallel(shape, set(inner))
    if not inner or x is None or shape.keeps_order:
        return None
    points = prod(shape.extents[d] for d in inner)
    few = points <= MOST_COPIES and copies_left(shape.program, shape.stage) <= MOST_LEFT
    if not few or prod(shape.extents[d] for d in results) > MOST_HELD:
        return None
    outline = ScheduleBuilder(shape)
    (_on_cpu if machine.kind == "cpu" else _on_gpu)(outline, x, inner, machine)
    return outline


def _parallel(shape: Shape, inner: set[int]) -> int | None:
    """The dimension of threads and lanes: one along which arrays are contiguous, else the longest."""
    dims = [d for d in shape.of_kind(DimKind.CC) if d not in inner and shape.extents[d] >= LEAST]
    if len([d for d in shape.of_kind(DimKind.CC) if d not in inner]) > 3:
        return None
    side_by_side = {shape.contiguous(a) for a in (*shape.writes, *shape.reads)}
    return max(dims, key=lambda d: (d in side_by_side, shape.extents[d]), default=None)


def _on_gpu(outline: ScheduleBuilder, x: int, inner: list[int], machine: Machine) -> None:
    shape, extents = outline.shape, outline.shape.extents
    tiles = {d: 1 for d in shape.of_kind(DimKind.CC) if d not in inner}
    tiles[x] = min(THREADS, power_up(extents[x]))
    half = machine.shared_per_block // 2
    packed = _packed(shape, half)
    left = half - sum(_bytes(shape, b) for b in packed)
    shared = {**packed, **_rows(shape, x, inner, tiles[x], left)}
    outline.step(tiles, dict(block_axes(tiles, extents, machine, x)), entries=shared)
    sums = [d for d in shape.of_kind(DimKind.PW) if d not in inner]
    kept = _kept(shape, inner)
    outline.step({x: 1}, {x: Unit(Layer.THR, "x")}, entries={**held(shape), **({} if sums else kept)})
    outline.step(dict.fromkeys(sums, 1), entries=kept if sums else {})
    _unrolled(outline, inner)


def _on_cpu(outline: ScheduleBuilder, x: int, inner: list[int], machine: Machine) -> None:
    shape, extents = outline.shape, outline.shape.extents
    lanes = min(native_lanes(shape, machine), power_up(extents[x] + 1) // 2)
    others = [d for d in shape.of_kind(DimKind.CC) if d not in inner and d != x]
    wanted = GROUPS_PER_CORE * machine.units
    tiles = outer_tiles(shape, others, wanted)
    groups = prod(ceil_div(extents[d], tile) for d, tile in tiles.items())
    if groups < wanted:
        tiles[x] = round_up(ceil_div(extents[x], ceil_div(wanted, groups)), lanes)
    outline.step(tiles, dict(block_axes(tiles, extents, machine)))
    packed = {b: staged(shape, b, Space.SM, _position(shape, b, x)) for b in _crosswise(shape, x, inner)}
    outline.step({**dict.fromkeys(others, 1), x: lanes}, entries={**packed, **held(shape, fastest=x)})
    outline.step({d: 1 for d in shape.of_kind(DimKind.PW) if d not in inner})
    results = [d for d in inner if shape.stage.dims[d].kind is DimKind.CC]
    if results:
        # accumulators beside a product and a constant
        room = VECTOR_REGISTERS.get(machine.vector_bytes, 16) - 4
        parts = ceil_div(prod(extents[d] for d in results), room)
        longest = max(results, key=lambda d: extents[d])
        outline.step({longest: ceil_div(extents[longest], parts)}, attrs=(attribute("unroll"),))
    _unrolled(outline, inner)
    outline.step({x: 1}, {x: Unit(Layer.VEC, "x")})


def _unrolled(outline: ScheduleBuilder, inner: list[int]) -> None:
    """The loops over constants: sums outside, so that results share what is computed of their terms."""
    kinds = outline.shape.stage.dims
    order = sorted(inner, key=lambda d: kinds[d].kind is DimKind.CC)
    units = {d: ForEntry(n) for n, d in enumerate(order, 1)}
    outline.step(dict.fromkeys(inner, 1), units, attrs=(attribute("unroll"),))


def _others(shape: Shape) -> list[str]:
    """The arrays that are no constants and can be copied."""
    known = shape.program.buffer_of
    return [b for b in shape.inputs if known[b].values is None and stageable(shape, b)]


def _kept(shape: Shape, inner: list[int]) -> dict[str, Mem]:
    """The inputs of which a thread holds what the loops over constants read."""
    tiles = {d: shape.extents[d] for d in inner}
    few = [b for b in _others(shape) if 1 < shape.footprint(b, tiles) <= MOST_HELD]
    return {b: staged(shape, b, Space.RM) for b in few}


def _crosswise(shape: Shape, x: int, inner: list[int]) -> list[str]:
    """The arrays whose rows lie along the constants' dimensions, not along the parallel one."""
    return [
        b
        for b in _others(shape)
        if all(shape.uses(a, x) and shape.contiguous(a) in inner for a in shape.reads_of(b))
    ]


def _packed(shape: Shape, room: int) -> dict[str, Mem]:
    """The arrays of which only the zeros are known, in shared memory. All threads read the same elements one
    after another, each for one product: on an H100, 4,531 of them took 1.8 times as long from device memory,
    and so they did from constant memory, whose cache is smaller."""
    known, stage = shape.program.buffer_of, shape.stage
    every = [n for e in stage.expressions() for n in walk(e) if isinstance(n, Load)]
    out = dict[str, Mem]()
    for b in shape.inputs:
        places = [n for x in every if x.buffer == b for e in x.index for n in walk(e) if isinstance(n, Load)]
        tables = bool(places) and all(is_constant(shape.program, n) for n in places)
        gathered = all(None in a.index for a in shape.reads_of(b)) and not any(known[b].open)
        if tables and gathered and _bytes(shape, b) <= room:
            room -= _bytes(shape, b)
            out[b] = staged(shape, b, Space.SM)
    return out


def _bytes(shape: Shape, buffer: str) -> int:
    return prod(shape.program.buffer_of[buffer].shape) * shape.element_bytes(buffer)


def _rows(shape: Shape, x: int, inner: list[int], threads: int, room: int) -> dict[str, Mem]:
    """Such arrays in shared memory, where threads read down a column without conflicts."""
    tiles = {x: threads, **{d: shape.extents[d] for d in inner}}
    out = dict[str, Mem]()
    for b in _crosswise(shape, x, inner):
        row = shape.boxes[b].sides(tiles)[-1]
        size = shape.footprint(b, tiles) * shape.element_bytes(b)
        if size <= room:
            room -= size
            out[b] = staged(shape, b, Space.SM, None, *(() if row % 2 else (attribute("pad", 1),)))
    return out


def _position(shape: Shape, buffer: str, dim: int) -> int | None:
    name, access = shape.stage.dims[dim].name, shape.reads_of(buffer)[0]
    return next((p for p, f in enumerate(access.index) if f is not None and name in f.names), None)
