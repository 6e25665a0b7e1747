"""A model of products of matrices whose blocks multiply with atoms of warp groups (wgmma).

One warp group of a block does nothing but ask for slices of both factors, some slots ahead. The others
multiply them as they come. If there are more tiles than multiprocessors, each block takes some in turn.

The constants are rounded from schedules of matmul_bf16 on an H100 (artifacts/h100/tensor_cores.md).
"""

from dataclasses import dataclass, replace
from math import ceil, prod

from mdh.cost.gpu import PRODUCTS, WORD, Joining, joined, parted, transfer
from mdh.cost.tensor import atom_rate
from mdh.ir.atoms import Atom
from mdh.machine import Machine

COSTS = replace(PRODUCTS, launch=0.55e-6, start=0.68e-6, traffic=1.18, reached=0.95, worth=1.0)
START = 1000.0
"""Cycles of a block before its first slice has come."""
SLICE = 120.0
"""Cycles of a slice in which nothing is multiplied."""
SHARED_BYTES, NEAR_BYTES, MOST_NEAR_BYTES = 128.0, 44.0, 100.0
"""Bytes a cycle that a multiprocessor's tensor cores read of shared memory, that the second-level cache gives
it while all others ask as well, and that it gives it at most."""
CROOKED = 1.7
"""What a byte costs that comes in rows which do not begin at multiples of 32 bytes."""
CLUSTERED, MEETING = 1.03, 3000.0
"""What blocks lose that wait for one another, and cycles until those of a cluster have begun together."""
TOGETHER = 3.0
"""Exponent with which the time of the multiprocessors and that of the memory are joined (see `joined`)."""
STORED, BOXED, BOX = 4.4, 21.5, 510.0
"""Results of a tile that threads store in a cycle, bytes of them that the copy engine takes in a cycle, and
its cycles before that."""
NARROW, TURNED = 1.27, 0.855
"""What a result costs a thread whose type has 16 bits, and one whose neighbours lie in other lanes."""


@dataclass(frozen=True, slots=True)
class GroupWork:
    """What a candidate has to do. tile: rows and columns of a block, whose `groups` warp groups share the
    rows. slices: of a tile, each of `depth` elements of k. tiles: of the whole product, with the parts of the
    sum and what fills clusters up. moved: bytes of memory traffic, written: bytes of the results. result:
    bytes of one of them. boxed: the copy engine stores them. turned: a row of the result runs along the rows
    of a tile. shared: by how many blocks of a cluster each factor's slice is shared. crooked: whether its
    rows begin at odd multiples of 16 bytes."""

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
    parts: int = 1
    joining: Joining = Joining.KERNEL
    shared: tuple[int, int] = (1, 1)
    crooked: tuple[bool, bool] = (False, False)


def group_seconds(work: GroupWork, machine: Machine) -> float:
    """An estimate for the whole product."""
    size, (rows, columns) = work.atom.left.bytes, work.tile
    multiplied = rows * columns * work.depth / atom_rate(machine, work.atom)
    # each warp group reads its rows and all columns for itself
    read = (rows + work.groups * columns) * work.depth * size / SHARED_BYTES
    sides = zip(work.tile, work.shared, work.crooked, strict=True)
    lines = sum(side / shared * (CROOKED if crooked else 1.0) for side, shared, crooked in sides)
    near = max(min(1.0, work.tiles / machine.units) / NEAR_BYTES, 1.0 / MOST_NEAR_BYTES)
    slice_cycles = max(multiplied, read, lines * work.depth * size * near) + SLICE
    cluster = max(work.shared)
    waves = ceil(work.tiles / cluster / (machine.units // cluster))
    tile_cycles = work.slices * slice_cycles + _stored(work)
    cycles = START + waves * tile_cycles
    if cluster > 1:
        cycles = START + MEETING + waves * tile_cycles * CLUSTERED
    memory = transfer(machine, work.moved, COSTS.reached)
    alone: float = joined(TOGETHER, cycles / machine.clock, memory)
    return parted(alone, COSTS, machine, work.parts * work.written if work.parts > 1 else 0, work.joining)


def _stored(work: GroupWork) -> float:
    """Cycles in which the results of a tile are stored."""
    results = prod(work.tile)
    if work.boxed:
        return results * work.result / BOXED + BOX
    kind = NARROW if work.result < WORD else TURNED if work.turned else 1.0
    return results / STORED * kind
