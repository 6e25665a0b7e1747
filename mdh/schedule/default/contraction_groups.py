"""Products of matrices by warp groups and the copy engine: chooses tiles, and the parts of the sum, by an
estimate.

A block computes a tile of the result. One warp group of it asks the copy engine for slices of both factors.
The others multiply them, each with rows of its own, and the copy engine stores what they have computed. The
conditions are those of the rules K166 and K170 to K174.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product as product_of
from math import prod

from mdh.cost.gpu import Joining
from mdh.cost.groups import GroupWork, group_seconds
from mdh.machine import Machine
from mdh.schedule.default.atom_sides import NONE, SideTiles, side_tiles
from mdh.schedule.default.atoms import PROMOTE, Factor, Matrices
from mdh.schedule.default.contraction_atoms import PARTS, moved_bytes
from mdh.schedule.default.grid import block_axes, ceil_div, power_up, round_up
from mdh.schedule.default.group_products import (
    SWIZZLE,
    dense_rows,
    ends_along,
    held_in_registers,
    stored_bytes,
    windows,
)
from mdh.schedule.default.operands import Tiling
from mdh.schedule.default.shape import Shape

ROWS = (64, 128, 192, 256)
COLUMNS = (*range(8, 128, 8), *range(128, 257, 16))
REGISTERS = {2: "40/232", 3: "32/160"}
"""By the number of warp groups that compute, each thread's share of the registers: of one that copies, and of
one that holds more than FEW results."""
FEW = 64
RESULTS = 128
"""The most results of a thread."""
SPARE, MOST_REGISTERS = 40, 248
"""Registers of a thread besides its results, and the most that a thread of a warp group has."""
TURNS, TAKERS = ((128, 128), (64, 256), (256, 64)), 2
"""Rows and the most columns of a tile that a warp group computes alone; warp groups that take turns."""
SLOTS, HALOS = 8, 2
"""The most slots of copies, and those of copies with a halo."""
CLUSTERS = ((1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (2, 4), (4, 2))
"""By how many blocks of a cluster the slices of the two factors are shared."""
SHARED_SLICES, MOST_SHARED = 8, 48
"""Clusters are tried with so many slices at least, and for so many plans, the best without them."""
LINES = 8
"""Rows after which the pattern of a swizzle begins again."""
SECTOR = 32
"""Bytes that come together."""
SLICES_LEAST = 4
"""The fewest slices of a part of the sum."""
STAGE = 2 * 64 * 128
"""Bytes of shared memory through which a warp group's results leave."""
BOX = 128
"""Bytes of a row of a box of results."""
TOKENS = 1024
"""Bytes of shared memory kept for tokens and alignment."""


@dataclass(frozen=True, slots=True)
class GroupTiling(Tiling):
    """product: its m runs along the rows of a block. tiles: of the rows by dimension. size: places of a block
    along m and n. groups: warp groups that compute; turns: each computes whole tiles, by turns. slots: of the
    copies. boxed: the copy engine stores the results. shared: by how many blocks of a cluster the slices of
    the two factors are shared; along: the dimension of the rows of those that share the right one's. window:
    reduced dimensions that a copy of the left factor holds as a whole."""

    product: Matrices = field(kw_only=True)
    tiles: SideTiles = NONE
    size: tuple[int, int] = (1, 1)
    groups: int = 1
    slots: int = 1
    boxed: bool = False
    turns: bool = False
    shared: tuple[int, int] = (1, 1)
    along: int = -1
    window: tuple[int, ...] = ()

    @property
    def cluster(self) -> dict[int, int]:
        """Blocks of a cluster by dimension."""
        return {self.product.n: self.shared[0], self.along: self.shared[1]}


def best_group_plan(
    shape: Shape, products: list[Matrices], machine: Machine, joining: Joining
) -> tuple[GroupTiling, float] | None:
    """The plan with the best estimate, in seconds, for one of the products; None if no plan fits."""
    if not products:
        return None
    moved = moved_bytes(shape, products[0])

    def timed(plans: Iterable[GroupTiling]) -> list[tuple[GroupTiling, float]]:
        return [(p, group_seconds(group_work(shape, p, moved), machine)) for p in plans]

    every = (p for x in products for p in group_plans(shape, x, machine, joining))
    alone = sorted(timed(every), key=lambda p: p[1])
    shared = (s for p, _ in alone[:MOST_SHARED] for s in clustered(shape, machine, p))
    turns = (p for x in products for p in by_turns(shape, x, machine, joining))
    return min([*alone[:1], *timed(shared), *timed(turns)], key=lambda p: p[1], default=None)


def group_plans(shape: Shape, found: Matrices, machine: Machine, joining: Joining) -> Iterator[GroupTiling]:
    """Candidates without clusters that fit."""
    n, size = shape.extents[found.n], found.atom.left.bytes
    depth = SWIZZLE // size
    boxed = stored_bytes(shape, found)
    for rows, (window, side) in product_of(ROWS, windows(shape, found)):
        for columns in _columns(found, n):
            groups = rows // 64 if rows < 256 else 2
            results = rows // 64 // groups * columns // 2
            if results > RESULTS or (groups == 3 and columns > 192):
                continue
            if found.accumulators > 1 and found.accumulators * results + SPARE > _share(groups):
                continue
            if not found.left.along_k and rows * size % SWIZZLE:
                continue
            tiles = side_tiles(side, found.atom.m, rows // groups, groups)
            if tiles is None:
                continue
            block = _block(shape, found, tiles, columns)
            for part, parts in _parts(shape, found, machine, block, depth):
                leaves = boxed > 0 and parts == 1 and columns * boxed % BOX == 0 and _aligned(tiles)
                plan = GroupTiling(
                    block, {}, _slices(found, depth), found.k, part, parts, joining, product=found,
                    tiles=tiles, size=(rows, columns), groups=groups, window=window,
                )  # fmt: skip
                for stored in (True, False) if leaves else (False,):
                    slots = _slots(shape, machine, plan, groups if stored else 0)
                    if slots > 1:
                        yield replace(plan, slots=slots, boxed=stored)


def _block(shape: Shape, found: Matrices, tiles: SideTiles, columns: int) -> dict[int, int]:
    single = {d: 1 for d in range(len(shape.extents)) if d not in (found.k, *found.others)}
    return {**single, **tiles.block, found.n: columns}


def _slices(found: Matrices, depth: int) -> dict[int, int]:
    return {found.k: depth, **dict.fromkeys(found.others, 1)}


def _slots(shape: Shape, machine: Machine, plan: GroupTiling, storing: int) -> int:
    """Slots that fit beside what so many warp groups store through. With a window, those of the right factor:
    the left one has two."""
    rows, columns = plan.size
    room = machine.shared_per_block - TOKENS - storing * STAGE
    if plan.window:
        room -= HALOS * prod(plan.tiles.held.values()) * SWIZZLE
        rows = 0
    slices = ceil_div(plan.part, plan.slices[plan.k]) * prod(shape.extents[d] for d in plan.product.others)
    return min(SLOTS, room // ((rows + columns) * SWIZZLE), max(2, slices))


def by_turns(shape: Shape, found: Matrices, machine: Machine, joining: Joining) -> Iterator[GroupTiling]:
    """Candidates in which one warp group multiplies a tile while another stores the results of the one
    before. Each multiprocessor has several tiles, whose grid is persistent."""
    boxed, depth = stored_bytes(shape, found), SWIZZLE // found.atom.left.bytes
    if not boxed or found.accumulators > 1 or held_in_registers(found):
        return
    for (rows, most), (window, side) in product_of(TURNS, windows(shape, found)):
        tiles = side_tiles(side, found.atom.m, rows, 1)
        columns = max((c for c in _columns(found, shape.extents[found.n]) if c <= most), default=0)
        if tiles is None or not _aligned(tiles) or not columns or columns * boxed % BOX:
            continue
        block = _block(shape, found, tiles, columns)
        parts = [ceil_div(shape.extents[d], tile) for d, tile in block.items()]
        # a loop of a block would be around its results
        axes = block_axes(block, shape.extents, machine)
        if prod(parts) < 2 * machine.units or len(axes) < sum(n > 1 for n in parts):
            continue
        plan = GroupTiling(
            block, {}, _slices(found, depth), found.k, shape.extents[found.k], 1, joining, product=found,
            tiles=tiles, size=(rows, columns), groups=TAKERS, boxed=True, turns=True, window=window,
        )  # fmt: skip
        slots = _slots(shape, machine, plan, TAKERS)
        if slots > 1:
            yield replace(plan, slots=slots)


def clustered(shape: Shape, machine: Machine, plan: GroupTiling) -> Iterator[GroupTiling]:
    """The plan with clusters whose blocks share slices, where there are enough slices to be worth it."""
    found = plan.product
    slices = ceil_div(plan.part, plan.slices[plan.k]) * prod(shape.extents[d] for d in found.others)
    if slices < SHARED_SLICES or held_in_registers(found):
        return
    # the most blocks lie along it
    along = max(found.rows.dims, key=lambda d: ceil_div(shape.extents[d], plan.block[d]))
    for shared in CLUSTERS:
        count = prod(shared)
        of = replace(plan, shared=shared, along=along)
        tiles = {**plan.block, **{d: n * plan.block[d] for d, n in of.cluster.items()}}
        # one cluster alone is none: its blocks are a grid
        several = any(shape.extents[d] > tile for d, tile in tiles.items())
        fits = all(tiles[d] <= shape.extents[d] for d in of.cluster)
        held = [plan.tiles.held[d] for d in found.rows.dims]
        whole = shared[0] == 1 or (dense_rows(shape, found) and _falls(found.left, held, shared[0]))
        whole = whole and _falls(found.right, [plan.block[found.n]], shared[1])
        if count <= machine.cluster and several and fits and whole:
            yield of


def _falls(factor: Factor, tiles: Sequence[int], parts: int) -> bool:
    """Whether a slice of a factor can be cut into `parts` boxes of whole lines. If its rows run along k, it
    is cut along one of the factor's own dimensions. tiles: the tile sizes along these."""
    if not factor.along_k or parts == 1:
        return True
    # a box goes through the dimensions behind the one that is cut
    rows = ((t, prod(tiles[i:])) for i, t in enumerate(tiles))
    return any(t % parts == 0 and n // parts % LINES == 0 for t, n in rows)


def _aligned(tiles: SideTiles) -> bool:
    """Whether boxes of an atom's rows begin at whole lines where it has empty places."""
    rooms = 1
    for tile in [*tiles.atom.values()][:0:-1]:
        rooms *= power_up(tile)
        if tile < power_up(tile):
            return rooms % LINES == 0
    return True


def _crooked(factor: Factor) -> bool:
    return factor.row * factor.bytes % SECTOR != 0


def _columns(found: Matrices, extent: int) -> Iterator[int]:
    """Columns of a tile: the fewest with which so many tiles cover the extent."""
    size, covered = found.atom.left.bytes, 0
    for columns in (c for c in COLUMNS if c <= extent):
        exists = found.atom.acc.is_float or columns % 16 == 0
        if exists and (found.right.along_k or columns * size % SWIZZLE == 0):
            tiles = ceil_div(extent, columns)
            if tiles != covered:
                yield columns
            covered = tiles


def _share(groups: int) -> int:
    """Registers of a thread that computes, with so many warp groups of them."""
    said = REGISTERS.get(groups)
    return MOST_REGISTERS if said is None else int(said.rpartition("/")[2])


def _parts(
    shape: Shape, found: Matrices, machine: Machine, block: dict[int, int], depth: int
) -> Iterator[tuple[int, int]]:
    """(elements of k of a block, blocks that share a sum)"""
    extent = shape.extents[found.k]
    yield extent, 1
    blocks = prod(ceil_div(shape.extents[d], t) for d, t in block.items())
    if blocks >= machine.units or len(block_axes(block, shape.extents, machine, found.n)) > 2:
        return
    for parts in PARTS[1:]:
        part = round_up(ceil_div(extent, parts), depth)
        if part < SLICES_LEAST * depth or blocks * parts > machine.units:
            return
        if ceil_div(extent, part) == parts and (extent % part == 0 or ends_along(shape, found)):
            yield part, parts


def group_work(shape: Shape, plan: GroupTiling, moved: tuple[int, int]) -> GroupWork:
    """What a plan has to do. moved: bytes of memory traffic, and those of the results."""
    found, depth = plan.product, plan.slices[plan.k]
    counts = ((ceil_div(shape.extents[d], t), plan.cluster.get(d, 1)) for d, t in plan.block.items())
    return GroupWork(
        found.atom,
        plan.size,
        plan.groups,
        slices=ceil_div(plan.part, depth) * prod(shape.extents[d] for d in found.others),
        depth=depth,
        tiles=plan.parts * prod(round_up(n, of) for n, of in counts),
        moved=sum(moved),
        written=moved[1],
        result=shape.element_bytes(shape.writes[0].buffer),
        boxed=plan.boxed,
        turned=shape.contiguous(shape.writes[0]) in found.rows.dims,
        turns=plan.turns,
        held=held_in_registers(found),
        parts=plan.parts,
        joining=plan.joining,
        shared=plan.shared,
        copied=prod(plan.tiles.held.values()) / prod(shape.extents[d] for d in plan.window)
        if plan.window
        else 0,
        crooked=(_crooked(found.left), _crooked(found.right)),
        promote=PROMOTE if found.atom.coarse else 0,
    )
