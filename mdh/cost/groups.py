"""A model of products of matrices whose blocks multiply with atoms of warp groups (wgmma).

One warp group of a block does nothing but ask for slices of both factors, some slots ahead. The others
multiply them as they come. If there are more tiles than multiprocessors, each block takes some in turn.

The constants are fitted to 2,751 timed schedules of 156 products of all types on an H100, a third of them
with few rows: what the estimate chooses takes 1.03 times the best that was timed, as a geometric mean.
"""

from dataclasses import dataclass, replace
from math import ceil, prod

from mdh.cost.gpu import PRODUCTS, WORD, Joining, joined, parted, transfer
from mdh.cost.tensor import tensor_peak
from mdh.ir.atoms import Atom
from mdh.machine import Machine

COSTS = replace(
    PRODUCTS, launch=0.82e-6, second=0.73e-6, start=0.77e-6, traffic=1.36, reached=0.92, worth=1.0
)
START = 570.0
"""Cycles of a block before its first slice has come."""
SLICE = 124.0
"""Cycles of a slice in which nothing is multiplied."""
SHARED_BYTES, NEAR_BYTES, MOST_NEAR_BYTES = 128.0, 60.0, 161.0
"""Bytes a cycle that a multiprocessor's tensor cores read of shared memory, that the second-level cache gives
it while all others ask as well, and that it gives it at most."""
CROOKED = 2.3
"""What a byte costs that comes in rows which do not begin at multiples of 32 bytes."""
CLUSTERED, MEETING = 1.03, 2510.0
"""What blocks lose that wait for one another, and cycles until those of a cluster have begun together."""
SIDES, TOGETHER = 3.75, 2.9
"""Exponents of `joined`: for what a slice needs of tensor cores, shared memory and cache; for the time of the
multiprocessors and that of the memory."""
KEPT, CACHED = 0.75, 1.97
"""Share of the second-level cache whose bytes stay there between calls, and how much faster they come than
from memory. Calls in a row on the same arrays; after others, they come from memory."""
STORED, BOXED, BOX = 4.35, 21.3, 540.0
"""Results of a tile that threads store in a cycle, bytes of them that the copy engine takes in a cycle, and
its cycles before that."""
HELD = 1.1
"""How much longer atoms take where threads load a factor into registers while others run. From schedules of
matmul_tf32 on an H100."""
NARROW, TURNED = 1.39, 0.87
"""What a result costs a thread whose type has 16 bits, and one whose neighbours lie in other lanes."""
LONG = 1.17
"""How much longer turns take whose tiles are far longer on one side. From 22 of the timed schedules."""
ADDED = 2.0 / 128
"""Cycles of a result that threads take over from the atoms: an addition and a zero, 128 of which a
multiprocessor does at once. An estimate."""


@dataclass(frozen=True, slots=True)
class GroupWork:
    """What a candidate has to do. tile: rows and columns of a block, whose `groups` warp groups share the
    rows. slices: of a tile, each of `depth` elements of k. tiles: of the whole product, with the parts of the
    sum and what fills clusters up. moved: bytes of memory traffic, written: bytes of the results. result:
    bytes of one of them. boxed: the copy engine stores them. turned: a row of the result runs along the rows
    of a tile. turns: warp groups take tiles by turns. held: the factor along the rows is in registers.
    shared: by how many blocks of a cluster each factor's slice is shared. copied: rows of the first factor
    that come with a slice, on average; 0: those of the tile. crooked: whether a factor's rows begin at odd
    multiples of 16 bytes. promote: elements of k after which threads add what the atoms have summed; 0:
    never."""

    atom: Atom
    tile: tuple[int, int]
    groups: int
    slices: int
    depth: int
    tiles: int
    moved: int
    written: int
    result: int
    boxed: bool = False
    turned: bool = False
    turns: bool = False
    held: bool = False
    parts: int = 1
    joining: Joining = Joining.KERNEL
    shared: tuple[int, int] = (1, 1)
    copied: float = 0
    crooked: tuple[bool, bool] = (False, False)
    promote: int = 0


def group_seconds(work: GroupWork, machine: Machine) -> float:
    """An estimate for the whole product."""
    size, (rows, columns) = work.atom.left.bytes, work.tile
    peak = tensor_peak(machine, work.atom.left) / (2 * machine.units * machine.clock)
    multiplied = rows * columns * work.depth / peak * (HELD if work.held else 1.0)
    # each atom reads its 64 rows and all columns
    read = (rows + ceil(rows / work.atom.m) * columns) * work.depth * size / SHARED_BYTES
    sides = zip((work.copied or rows, columns), work.shared, work.crooked, strict=True)
    lines = sum(side / shared * (CROOKED if crooked else 1.0) for side, shared, crooked in sides)
    near = max(min(1.0, work.tiles / machine.units) / NEAR_BYTES, 1.0 / MOST_NEAR_BYTES)
    slice_cycles = (SLICE / 2 if work.turns else SLICE) + joined(
        SIDES, multiplied, read, lines * work.depth * size * near
    )
    if work.promote:
        # while the threads of one warp group add, the atoms of the others run
        slice_cycles += ADDED * rows * columns / work.groups * work.depth / work.promote
    cluster = prod(work.shared)
    waves = ceil(work.tiles / cluster / machine.clusters(cluster))
    stored = _stored(work)
    tile_cycles = work.slices * slice_cycles + stored
    cycles = START + waves * tile_cycles
    if work.turns:
        # while one warp group multiplies, another stores
        cycles = START + waves * max(tile_cycles - stored, stored) + stored
        cycles *= LONG if max(work.tile) > 2 * min(work.tile) else 1.0
    if cluster > 1:
        cycles = START + MEETING + waves * tile_cycles * CLUSTERED
    kept = work.moved < KEPT * max(machine.caches, default=0)
    memory = transfer(machine, work.moved, COSTS.reached * (CACHED if kept else 1.0))
    alone: float = joined(TOGETHER, cycles / machine.clock, memory)
    return parted(alone, COSTS, machine, work.parts * work.written if work.parts > 1 else 0, work.joining)


def _stored(work: GroupWork) -> float:
    """Cycles in which the results of a tile are stored."""
    results = prod(work.tile)
    if work.boxed:
        return results * work.result / BOXED + BOX
    kind = NARROW if work.result < WORD else TURNED if work.turned else 1.0
    return results / STORED * kind
