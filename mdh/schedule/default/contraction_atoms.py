"""Products of matrices on tensor cores: chooses tiles, and the number of parts of the sum, by an estimate.

A block computes a tile of the result. Its warps each hold a part in registers, in the elements of atoms.
Slices of both factors are copied to shared memory some slots ahead. If the results are too few to fill the
machine, blocks share the sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from mdh.cost.gpu import WORD, Joining, resident
from mdh.cost.tensor import SCHEDULERS, AtomWork, atom_seconds
from mdh.hardware import Engine, Layer, Space
from mdh.ir.atoms import LANES
from mdh.machine import Machine
from mdh.occupancy import registers_at
from mdh.schedule.default.atoms import ROW, Factor, Matrices, ends_with
from mdh.schedule.default.grid import block_axes, ceil_div, grid_size, round_up
from mdh.schedule.default.operands import Tiling
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Arg, ArgCall, Attr, BufferPlace, Mem, Unit

PARTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
"""The numbers of parts that the longest reduced dimension may be cut into."""
GROUP = 8
"""Rows of blocks that run at about the same time, so that they share operands in the cache."""
SIDES = (8, 16, 32, 64)
"""Rows and columns of a warp."""
RESULTS_F64 = 1024
"""The most results of a warp in f64: with more, fewer blocks share a multiprocessor."""
LARGE = 4096
"""Results of a warp from which on each thread of a few warps would copy much, beside holding many results."""
WARPS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (2, 4), (4, 2))
"""Rows and columns of a block, in warps."""
BLOCK_MOST = 128
"""The most rows or columns of a block."""
SLOTS = (4, 3, 2, 1)
MANY = 32
"""Blocks of a multiprocessor from which on larger tiles are better."""
PER_UNIT = 4
"""The most blocks a multiprocessor that sharing a sum leads to."""
SPARE = 24
"""Registers of a thread besides results and fragments."""
HELD = 180
"""The most registers of a thread with which it holds elements of the next slice."""
SLICES_LEAST = 4
"""The fewest slices of a part of the sum."""


@dataclass(frozen=True, slots=True)
class AtomTiling(Tiling):
    """A tiling whose warps have tiles too. slots: of the copies."""

    warp: tuple[int, int] = (1, 1)
    slots: int = 1


def best_plan(
    shape: Shape, found: Matrices, machine: Machine, joining: Joining
) -> tuple[AtomTiling, float] | None:
    """The plan with the best estimate, in seconds; None if no plan fits."""
    moved = moved_bytes(shape, found)
    every = atom_plans(shape, found, machine, joining)
    work = ((p, atom_work(shape, found, machine, p, moved)) for p in every)
    return min(((p, atom_seconds(w, machine)) for p, w in work), key=lambda p: p[1], default=None)


def atom_plans(
    shape: Shape, found: Matrices, machine: Machine, joining: Joining = Joining.KERNEL
) -> Iterator[AtomTiling]:
    """The candidates that fit."""
    ways = (Joining.KERNEL, joining) if joining is Joining.FRESH else (joining,)
    for block, warp in _tiles(shape, found, machine):
        for part, parts in _parts(shape, found, machine, block):
            slices = {found.k: found.depth, **dict.fromkeys(found.others, 1)}
            for slots in _slots(found, machine, part, (block[found.m], block[found.n]), warp):
                plan = AtomTiling(block, {}, slices, found.k, part, parts, warp=warp, slots=slots)
                yield from (replace(plan, joining=w) for w in ways) if parts > 1 else (plan,)


def _tiles(
    shape: Shape, found: Matrices, machine: Machine
) -> Iterator[tuple[dict[int, int], tuple[int, int]]]:
    """Tiles of a block by dimension, and of a warp. Those that make very many blocks are left out, unless no
    others fit."""
    m, n = (shape.extents[d] for d in (found.m, found.n))
    single = {d: 1 for d in range(len(shape.extents)) if d not in (found.k, *found.others)}
    tiles = []
    for tile in ((a, b) for a in SIDES for b in SIDES):
        large = found.atom.acc.bytes > WORD and prod(tile) > RESULTS_F64
        if large or tile[0] % found.atom.m or tile[1] % found.atom.n:
            continue
        for high, wide in WARPS:
            rows, columns = tile[0] * high, tile[1] * wide
            fits = rows <= min(m, BLOCK_MOST) and columns <= min(n, BLOCK_MOST)
            fits = fits and (prod(tile) < LARGE or high * wide >= SCHEDULERS)
            if fits and _registers(found, tile) <= registers_at(machine, high * wide):
                tiles.append(({**single, found.m: rows, found.n: columns}, tile))
    blocks = [_blocks(shape, block) for block, _ in tiles]
    most = max(MANY * machine.units, min(blocks, default=0))
    return (tile for tile, count in zip(tiles, blocks, strict=True) if count <= most)


def _blocks(shape: Shape, block: dict[int, int]) -> int:
    return prod(ceil_div(shape.extents[d], t) for d, t in block.items())


def _parts(
    shape: Shape, found: Matrices, machine: Machine, block: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """(elements of k of a block, blocks that share a sum)"""
    extent = shape.extents[found.k]
    yield extent, 1
    blocks = _blocks(shape, block)
    if blocks >= machine.units or len(block_axes(block, shape.extents, machine, found.n)) > 2:
        return
    for parts in PARTS[1:]:
        part = round_up(ceil_div(extent, parts), found.depth)
        if part < SLICES_LEAST * found.depth or blocks * parts > PER_UNIT * machine.units:
            return
        ends = ends_with(shape, found.k, (found.left.access, found.right.access))
        if ceil_div(extent, part) == parts and (extent % part == 0 or ends):
            yield part, parts


def _slots(
    found: Matrices, machine: Machine, part: int, block: tuple[int, int], warp: tuple[int, int]
) -> Iterator[int]:
    """Numbers of slots that shared memory has room for: the most, and fewer where a multiprocessor then has
    room for more blocks. Threads that move elements hold those of the next slice in registers."""
    size, blocks = _shared(found, *block), 0
    threads = prod(block) // prod(warp) * LANES
    held = _registers(found, warp) + _turned(found, machine, block) // threads
    ahead = all(f.asynchronous(machine) for f in found.factors)
    most = len(SLOTS) if ahead else 2 if held <= HELD else 1
    for slots in SLOTS[-most:] if part > found.depth else (1,):
        room = machine.shared_per_unit // (slots * size)
        if slots * size <= machine.shared_per_block and room > blocks:
            blocks = room
            yield slots


def _turned(found: Matrices, machine: Machine, block: tuple[int, int]) -> int:
    """Elements of a slice that threads move one by one."""
    sides = zip(found.factors, block, strict=True)
    return sum(side * found.depth for f, side in sides if not f.asynchronous(machine))


def _shared(found: Matrices, rows: int, columns: int) -> int:
    """Bytes of a slice of both factors in shared memory."""
    return sum(
        _lines(f, found, side) * (_row(f, found, side) + f.padding(_row(f, found, side))) * f.bytes
        for f, side in zip(found.factors, (rows, columns), strict=True)
    )


def _row(factor: Factor, found: Matrices, side: int) -> int:
    """Elements of a row of a factor's copy. side: tile of the block along its own dimension."""
    return found.depth if factor.along_k else side


def _lines(factor: Factor, found: Matrices, side: int) -> int:
    return side if factor.along_k else found.depth


def _registers(found: Matrices, tile: tuple[int, int]) -> int:
    """Registers of a thread: results, fragments of a part of k, and others."""
    atom = found.atom
    words = found.accumulators * atom.acc.bytes * tile[0] * tile[1] + atom.left.bytes * atom.k * (
        tile[0] + tile[1]
    )
    return words // (WORD * LANES) + SPARE


def moved_bytes(shape: Shape, found: Matrices) -> tuple[int, int]:
    """Bytes of the factors and of the results."""
    every = dict(enumerate(shape.extents))
    read = sum(shape.footprint(f.buffer, every) * f.bytes for f in found.factors)
    results = prod(n for d, n in every.items() if d not in (found.k, *found.others))
    return read, results * found.atom.acc.bytes


def atom_work(
    shape: Shape, found: Matrices, machine: Machine, plan: AtomTiling, moved: tuple[int, int]
) -> AtomWork:
    """The quantities that a plan's time depends on. moved: as `moved_bytes` counts."""
    atom, depth = found.atom, found.depth
    rows, columns = plan.block[found.m], plan.block[found.n]
    warps = rows // plan.warp[0] * (columns // plan.warp[1])
    shared = plan.slots * _shared(found, rows, columns)
    return AtomWork(
        atom,
        warps,
        resident=resident(machine, warps * LANES, _registers(found, plan.warp), shared),
        blocks=plan.parts * prod(ceil_div(shape.extents[d], t) for d, t in plan.block.items()),
        slices=ceil_div(plan.part, depth) * prod(shape.extents[d] for d in found.others),
        multiplies=rows * columns * depth,
        fragments=warps * sum(plan.warp) * depth * atom.left.bytes,
        copied=(rows + columns) * depth * atom.left.bytes,
        turned=_turned(found, machine, (rows, columns)) * atom.left.bytes,
        slots=plan.slots,
        results=prod(plan.block.values()),
        cut=_cut(shape),
        moved=sum(moved),
        written=moved[1],
        parts=plan.parts,
        joining=plan.joining,
    )


def _cut(shape: Shape) -> bool:
    """Whether rows of the results begin at no multiples of 16 bytes."""
    buffer = shape.program.buffer_of[shape.writes[0].buffer]
    return buffer.shape[-1] * buffer.dtype.bytes % ROW != 0


def atom_outline(shape: Shape, found: Matrices, machine: Machine, plan: AtomTiling) -> ScheduleBuilder:
    """The steps of a plan."""
    first = plan.first
    axes = block_axes(first, shape.extents, machine, found.n)
    blocks = grid_size(axes, first, shape.extents)
    ordered = found.m in axes and found.n in axes and blocks >= 4 * machine.units and plan.parts == 1
    order = (attribute("order", ArgCall("grouped", (Arg(GROUP),))),) if ordered else ()
    outline = ScheduleBuilder(shape)
    outline.step(first, dict(axes), entries=plan.entries(shape), attrs=order)
    results = held(shape)
    if found.others:
        outline.step(dict.fromkeys(found.others, 1), entries=results)
        results = {}
    copies = _copies(found, machine, plan)
    stages = (attribute("stages", plan.slots),) if plan.slots > 1 else ()
    outline.step({found.k: found.depth}, entries=results | copies, attrs=stages)
    warps = {found.m: Unit(Layer.WRP, "y"), found.n: Unit(Layer.WRP, "x")}
    outline.step(dict(zip((found.m, found.n), plan.warp, strict=True)), warps)
    atom = found.atom
    taken = {found.m: ("m", atom.m), found.n: ("n", atom.n), found.k: ("k", atom.k)}
    terms = plan.part * prod(shape.extents[d] for d in found.others)
    outline.atoms(taken, atom, *found.promotion(terms))
    return outline


def _copies(found: Matrices, machine: Machine, plan: AtomTiling) -> dict[str, Mem]:
    out = {}
    for factor, own in zip(found.factors, (found.m, found.n), strict=True):
        pad = factor.padding(_row(factor, found, plan.block[own]))
        attrs: tuple[Attr, ...] = (attribute("pad", pad),) if pad else ()
        if factor.asynchronous(machine):
            attrs = (*attrs, Attr("copy", (Arg(Engine.ASYNC, fallback=Arg(Engine.PLAIN)),)))
        layout = tuple(p + 1 for p in factor.layout)
        out[factor.buffer] = Mem(BufferPlace(factor.buffer, Space.SM, layout), attrs)
    return out
