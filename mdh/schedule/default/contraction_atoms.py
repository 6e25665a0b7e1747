"""Products of matrices on tensor cores: chooses tiles, and the number of parts of the sum, by an estimate.

A block computes a tile of the result. Its warps each hold a part in registers, in the elements of atoms.
Slices of both factors are copied to shared memory some slots ahead. If the results are too few to fill the
machine, blocks share the sum.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from mdh.cost.gpu import VECTOR_BYTES, WORD, Joining, resident
from mdh.cost.tensor import SCHEDULERS, AtomWork, atom_seconds
from mdh.hardware import Engine, Layer, Space
from mdh.ir.atoms import LANES
from mdh.ir.dtype import F64
from mdh.machine import Machine
from mdh.occupancy import registers_at
from mdh.schedule.default.atom_sides import NONE, SideTiles, side_tiles
from mdh.schedule.default.atoms import Matrices, ends_with
from mdh.schedule.default.grid import AXES, block_axes, ceil_div, grid_size, round_up
from mdh.schedule.default.operands import Tiling, blocks_step, cut_rows, gathered_bytes, gathers
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Arg, ArgCall, Attr, BufferPlace, Mem, Unit

PARTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
"""The numbers of parts that the longest reduced dimension may be cut into."""
GROUP = 8
"""Rows of blocks that run at about the same time, so that they share operands in the cache."""
SIDES = (8, 16, 32, 64)
"""Rows and columns of a warp."""
TIGHT = 230
"""Registers from which on ptxas keeps some of a thread's in memory: in f64, at edges or in long slices."""
COPIES = 8
"""The most pieces of 16 bytes that a thread copies of a slice where its registers are tight: it holds the
addresses of the others in memory. On an H100, such products in f64 took twice the time."""
RESULTS_8 = 1024
"""The most results of a warp in f64 with atoms of 8 rows, whose many instructions leave fewer registers."""
LARGE = 4096
"""Results of a warp from which on each thread of a few warps would copy much, beside holding many results."""
WARPS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (2, 4), (4, 2))
"""Rows and columns of a block, in warps."""
TALL, BLOCK_TALL = (96, 128, 192), 768
"""Rows of a warp, and the most of a block, where columns are few and rows run along several dimensions."""
BLOCK_MOST = 128
"""The most rows or columns of a block."""
SLOTS = (4, 3, 2, 1)
SLOTS_F64 = (4, 3, 1)
"""With two, copies in f64 would be waited for where they begin."""
MANY, MANY_F64 = 32, 128
"""Blocks of a multiprocessor from which on larger tiles are better."""
PER_UNIT = 4
"""The most blocks a multiprocessor that sharing a sum leads to."""
LINE = 128
"""Bytes of a line of the second-level cache."""
SPARE = 24
"""Registers of a thread besides results and fragments."""
HELD = 180
"""The most registers of a thread with which it holds elements of the next slice."""
SLICES_LEAST = 4
"""The fewest slices of a part of the sum."""


@dataclass(frozen=True, slots=True)
class AtomTiling(Tiling):
    """A tiling whose warps have tiles too. rows, columns: tiles by dimension. size, warp: places along m and
    n of a block and of a warp. slots: of the copies. whole: a slice has all of the other reduced dimensions.
    gathered: the results meet in shared memory, from where whole rows of them are stored.
    """

    rows: SideTiles = NONE
    columns: SideTiles = NONE
    size: tuple[int, int] = (1, 1)
    warp: tuple[int, int] = (1, 1)
    slots: int = 1
    whole: bool = False
    gathered: bool = False

    @property
    def sides(self) -> tuple[SideTiles, SideTiles]:
        return self.rows, self.columns


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
    every = list(_tiles(shape, found, machine))
    every += [replace(tiles, whole=True) for tiles in every if found.others]
    # of convolutions, an H100 stores whole rows faster as they are: 8.9 instead of 12.0 microseconds
    straight = len(found.rows.dims) > 1 and not cut_rows(shape)
    if gathers(shape, found.atom.acc.bytes) and not straight:
        every += [replace(tiles, gathered=True) for tiles in every]
    for tiles in every:
        for part, parts in _parts(shape, found, machine, tiles.block):
            slices = {found.k: found.depth, **dict.fromkeys(found.others, 1)}
            for slots in _slots(shape, found, machine, part, tiles):
                plan = replace(tiles, slices=slices, part=part, parts=parts, slots=slots)
                yield from (replace(plan, joining=w) for w in ways) if parts > 1 else (plan,)


def _tiles(shape: Shape, found: Matrices, machine: Machine) -> Iterator[AtomTiling]:
    """The tiles of a block and of a warp. Those that make very many blocks are left out, unless no others
    fit."""
    m, n = (prod(side.extents) for side in found.sides)
    single = {d: 1 for d in range(len(shape.extents)) if d not in (found.k, *found.others)}
    tiles = []
    tall = TALL if found.atom.left.bytes <= 2 and len(found.rows.dims) > 1 else ()
    for tile in (*((a, b) for a in SIDES for b in SIDES), *((a, b) for a in tall for b in SIDES[:2])):
        if tile[0] % found.atom.m or tile[1] % found.atom.n or prod(tile) < found.least:
            continue
        high_most = BLOCK_TALL if tile[0] in TALL else BLOCK_MOST
        for high, wide in (*WARPS, (3, 1)) if tile[0] in tall else WARPS:
            size = tile[0] * high, tile[1] * wide
            fits = (
                size[0] <= high_most
                and size[1] <= BLOCK_MOST
                and all(s <= 2 * t for s, t in zip(size, (m, n), strict=True))
            )
            cut = bool(m % size[0] or n % size[1] or shape.extents[found.k] % found.depth)
            if not fits or not _held(found, machine, tile, size, cut=cut):
                continue
            rows = side_tiles(found.rows, found.atom.m, tile[0], high)
            columns = side_tiles(found.columns, found.atom.n, tile[1], wide)
            if rows is not None and columns is not None and len(rows.split) + len(columns.split) <= len(AXES):
                block = {**single, **rows.block, **columns.block}
                tiles.append(
                    AtomTiling(block, {}, {}, found.k, 1, 1, Joining.KERNEL, rows, columns, size, tile)
                )
    blocks = [_blocks(shape, tiling.block) for tiling in tiles]
    many = MANY_F64 if found.atom.left == F64 else MANY
    most = max(many * machine.units, min(blocks, default=0))
    return (tile for tile, count in zip(tiles, blocks, strict=True) if count <= most)


def _held(
    found: Matrices, machine: Machine, tile: tuple[int, int], size: tuple[int, int], *, cut: bool
) -> bool:
    """Whether what a thread holds fits registers. tile: of a warp; size: of a block. cut: guards at edges of
    tiles take some, too."""
    registers, bytes_ = _registers(found, tile), found.atom.left.bytes
    warps = prod(size) // prod(tile)
    if bytes_ > WORD and registers > TIGHT:
        pieces = sum(size) * found.depth * bytes_ // VECTOR_BYTES
        if cut or found.depth > 2 * found.atom.k or pieces > COPIES * warps * LANES:
            return False
    if bytes_ > WORD and prod(tile) > RESULTS_8 and found.atom.m == 8:
        return False
    if prod(tile) >= LARGE and (warps < SCHEDULERS or (cut and bytes_ in (1, WORD))):
        return False
    return registers <= registers_at(machine, warps)


def _blocks(shape: Shape, block: Mapping[int, int]) -> int:
    return prod(ceil_div(shape.extents[d], t) for d, t in block.items())


def _parts(
    shape: Shape, found: Matrices, machine: Machine, block: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """(elements of k of a block, blocks that share a sum)"""
    extent = shape.extents[found.k]
    yield extent, 1
    blocks = _blocks(shape, block)
    if blocks >= machine.units or len(block_axes(block, shape.extents, machine, found.columns.dims[-1])) > 2:
        return
    for parts in PARTS[1:]:
        part = round_up(ceil_div(extent, parts), found.depth)
        if part < SLICES_LEAST * found.depth or blocks * parts > PER_UNIT * machine.units:
            return
        ends = ends_with(shape, found.k, (found.left.access, found.right.access))
        if ceil_div(extent, part) == parts and (extent % part == 0 or ends):
            yield part, parts


def _slots(shape: Shape, found: Matrices, machine: Machine, part: int, tiles: AtomTiling) -> Iterator[int]:
    """Numbers of slots that shared memory has room for: the most, and fewer where a multiprocessor then has
    room for more blocks. Threads that move elements hold those of the next slice in registers."""
    size, blocks = _shared(shape, found, tiles), 0
    results = _gathered(shape, found, tiles)
    threads = prod(tiles.size) // prod(tiles.warp) * LANES
    held = _registers(found, tiles.warp) + _moved_alone(shape, found, machine, tiles) // threads
    ahead = all(f.asynchronous(machine) for f in found.factors)
    most = max(SLOTS) if ahead else 2 if held <= HELD else 1
    most = min(most, ceil_div(part, found.depth)) if found.others else most
    every = SLOTS_F64 if found.atom.left == F64 else SLOTS
    for slots in (s for s in every if s <= most) if part > found.depth else (1,):
        needed = slots * size + results
        room = machine.shared_per_unit // needed
        if needed <= machine.shared_per_block and room > blocks:
            blocks = room
            yield slots


def _moved_alone(shape: Shape, found: Matrices, machine: Machine, tiles: AtomTiling) -> int:
    """Elements of a slice that threads move one by one."""
    return sum(
        prod(_part(shape, found, tiles, i))
        for i, f in enumerate(found.factors)
        if not f.asynchronous(machine)
    )


def _shared(shape: Shape, found: Matrices, tiles: AtomTiling) -> int:
    """Bytes of a slice of both factors in shared memory."""
    total = 0
    for i, f in enumerate(found.factors):
        lines, row = _part(shape, found, tiles, i)
        total += lines * (row + f.padding(row)) * f.bytes
    return total


def _gathered(shape: Shape, found: Matrices, tiles: AtomTiling) -> int:
    return gathered_bytes(shape, tiles.block, found.atom.acc.bytes) if tiles.gathered else 0


def _part(shape: Shape, found: Matrices, tiles: AtomTiling, side: int) -> tuple[int, int]:
    """Rows of a factor's part of a slice, and elements of a row. side: 0 of A, 1 of B."""
    factor, size = found.factors[side], tiles.size[side]
    if tiles.whole:
        others = {d: shape.extents[d] for d in found.others}
        held = {**tiles.block, **tiles.rows.held, **tiles.columns.held, **others, found.k: found.depth}
        sides = shape.boxes[factor.buffer].sides(held)
        return prod(sides) // sides[factor.layout[-1]], sides[factor.layout[-1]]
    if factor.along_k:
        return size, found.depth
    row = tiles.sides[side].block[factor.own]
    return found.depth * ceil_div(size, row), row


def _registers(found: Matrices, tile: tuple[int, int]) -> int:
    """Registers of a thread: results, fragments of a part of k, and others."""
    atom = found.atom
    # in f64, those of the next part are loaded meanwhile
    parts = 2 if atom.left == F64 else 1
    fragments = parts * atom.left.bytes * atom.k * (tile[0] + tile[1])
    words = found.accumulators * atom.acc.bytes * tile[0] * tile[1] + fragments
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
    rows, columns = plan.size
    warps = rows // plan.warp[0] * (columns // plan.warp[1])
    shared = plan.slots * _shared(shape, found, plan) + _gathered(shape, found, plan)
    boxes = [_part(shape, found, plan, side) for side in (0, 1)]
    copied = [prod(box) * f.bytes for box, f in zip(boxes, found.factors, strict=True)]
    begins = [f.row * f.bytes for f in found.factors]
    others = prod(shape.extents[d] for d in found.others)
    inside, outside = (others, 1) if plan.whole else (1, others)
    return AtomWork(
        atom,
        warps,
        resident=resident(machine, warps * LANES, _registers(found, plan.warp), shared),
        blocks=plan.parts * prod(ceil_div(shape.extents[d], t) for d, t in plan.block.items()),
        slices=ceil_div(plan.part, depth) * outside,
        runs=outside,
        multiplies=rows * columns * depth * inside,
        fragments=warps * sum(plan.warp) * depth * inside * atom.left.bytes,
        copied=sum(copied),
        turned=_moved_alone(shape, found, machine, plan) * atom.left.bytes,
        pieces=sum(n for n, begin in zip(copied, begins, strict=True) if begin % VECTOR_BYTES),
        straddling=sum(rows for (rows, _), begin in zip(boxes, begins, strict=True) if begin % LINE),
        slots=plan.slots,
        results=prod(plan.block.values()),
        cut=cut_rows(shape),
        moved=sum(moved),
        written=moved[1],
        parts=plan.parts,
        joining=plan.joining,
        gathered=plan.gathered,
    )


def atom_outline(shape: Shape, found: Matrices, machine: Machine, plan: AtomTiling) -> ScheduleBuilder:
    """The steps of a plan."""
    first = plan.first
    near = found.columns.dims[-1]
    axes = block_axes(first, shape.extents, machine, near)
    blocks = grid_size(axes, first, shape.extents)
    ordered = (
        any(d in axes for d in found.rows.dims)
        and near in axes
        and blocks >= 4 * machine.units
        and plan.parts == 1
    )
    order = (attribute("order", ArgCall("grouped", (Arg(GROUP),))),) if ordered else ()
    outline = ScheduleBuilder(shape)
    blocks_step(shape, outline, plan, axes, order, gathered=plan.gathered)
    results = held(shape)
    others = dict.fromkeys(found.others, 1)
    if others and not plan.whole:
        outline.step(others, entries=results)
        results = {}
    copies = _copies(shape, found, machine, plan)
    stages = (attribute("stages", plan.slots),) if plan.slots > 1 else ()
    outline.step({found.k: found.depth}, entries=results | copies, attrs=stages)
    if plan.whole:
        outline.step(others)
    outline.step({**plan.rows.warp, **plan.columns.warp}, _warps(plan))
    atom = found.atom
    sides = zip("mn", plan.sides, strict=True)
    tiles = {d: (axis, tile) for axis, side in sides for d, tile in side.atom.items()}
    terms = plan.part * prod(shape.extents[d] for d in found.others)
    outline.atoms({**tiles, found.k: ("k", atom.k)}, atom, *found.promotion(terms))
    return outline


def _warps(plan: AtomTiling) -> dict[int, Unit]:
    """Axes of the warps: x for columns and y for rows, and z for one more dimension."""
    columns, rows = plan.columns.split, plan.rows.split
    axes = {**dict(zip(columns, "xz", strict=False)), **dict(zip(rows, "yz", strict=False))}
    return {d: Unit(Layer.WRP, axis) for d, axis in axes.items()}


def _copies(shape: Shape, found: Matrices, machine: Machine, plan: AtomTiling) -> dict[str, Mem]:
    out = {}
    for side, factor in enumerate(found.factors):
        pad = factor.padding(_part(shape, found, plan, side)[1])
        attrs: tuple[Attr, ...] = (attribute("pad", pad),) if pad else ()
        if factor.asynchronous(machine):
            attrs = (*attrs, Attr("copy", (Arg(Engine.ASYNC, fallback=Arg(Engine.PLAIN)),)))
        layout = tuple(p + 1 for p in factor.layout)
        out[factor.buffer] = Mem(BufferPlace(factor.buffer, Space.SM, layout), attrs)
    return out
