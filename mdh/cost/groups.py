"""A model of products of matrices whose blocks multiply with atoms of warp groups (wgmma).

One warp group of a block does nothing but ask for slices of both factors, some slots ahead. The others
multiply them as they come. If there are more tiles than multiprocessors, each block takes some in turn.

The constants are rounded from schedules of matmul_bf16 on an H100 (artifacts/h100/tensor_cores.md).
"""

from dataclasses import dataclass
from math import ceil

from mdh.cost.gpu import PRODUCTS, Joining, joined, parted, transfer
from mdh.cost.tensor import atom_rate
from mdh.ir.atoms import Atom
from mdh.machine import Machine

SLICE = 100.0
"""Cycles of a slice in which nothing is multiplied."""
SHARED_BYTES, NEAR_BYTES = 128.0, 40.0
"""Bytes a cycle that a multiprocessor's tensor cores read of shared memory, and that the second-level cache
gives it."""
CROOKED = 1.5
"""What a byte costs that comes in rows which do not begin at multiples of 32 bytes."""
CLUSTERED, MEETING = 1.01, 1500.0
"""What blocks lose that wait for one another, and cycles until those of a cluster have begun and ended
together: small products in clusters took 0.6 to 1.8 us more than the estimate without them
(artifacts/h100/random_tensor_cores.md)."""
TOGETHER = 3.0
"""Exponent with which the time of the multiprocessors and that of the memory are joined (see `joined`)."""
WAITED = 4.0
"""What a slice takes longer with few slots, in parts of its time, by the third power of their number."""
ADDED = 2.0 / 128
"""Cycles of a result that threads take over from the atoms: an addition and a zero, 128 of which a
multiprocessor does at once. An estimate."""
START, END_BYTES = 1500.0, 64.0
"""Cycles of a tile before its first slice has come, and bytes of its results that are stored in a cycle."""


@dataclass(frozen=True, slots=True)
class GroupWork:
    """What a candidate has to do. tile: rows and columns of a block, whose `groups` warp groups share the
    rows. slices: of a tile, each of `depth` elements of k. slots: of a slice. tiles: of the whole product,
    with the parts of the sum. moved: bytes of memory traffic, written: bytes of the results. shared: by how
    many blocks of a cluster each factor's slice is shared. crooked: whether its rows begin at odd multiples
    of 16 bytes. promote: elements of k after which threads add what the atoms have summed; 0: never."""

    atom: Atom
    tile: tuple[int, int]
    groups: int
    slices: int
    depth: int
    slots: int
    tiles: int
    moved: int
    written: int
    parts: int = 1
    joining: Joining = Joining.KERNEL
    shared: tuple[int, int] = (1, 1)
    crooked: tuple[bool, bool] = (False, False)
    promote: int = 0


def group_seconds(work: GroupWork, machine: Machine) -> float:
    """An estimate for the whole product."""
    size, (rows, columns) = work.atom.left.bytes, work.tile
    multiplied = rows * columns * work.depth / atom_rate(machine, work.atom)
    # each warp group reads its rows and all columns for itself
    read = (rows + work.groups * columns) * work.depth * size / SHARED_BYTES
    sides = zip(work.tile, work.shared, work.crooked, strict=True)
    lines = sum(side / shared * (CROOKED if crooked else 1.0) for side, shared, crooked in sides)
    came = lines * work.depth * size / NEAR_BYTES
    # while the threads of one warp group add, the atoms of the others run
    taken = ADDED * rows * columns / work.groups * work.depth / work.promote if work.promote else 0.0
    slice_cycles = (max(multiplied, read, came) + SLICE + taken) * (1.0 + WAITED / work.slots**3)
    ending = rows * columns * work.atom.acc.bytes / END_BYTES
    cluster = max(work.shared)
    waves = ceil(work.tiles / cluster / (machine.units // cluster))
    begun = START + (MEETING if cluster > 1 else 0.0)
    cycles = begun + waves * (work.slices * slice_cycles + ending) * (CLUSTERED if cluster > 1 else 1.0)
    memory = transfer(machine, work.moved, PRODUCTS.reached)
    alone: float = joined(TOGETHER, cycles / machine.clock, memory)
    return parted(alone, PRODUCTS, machine, work.parts * work.written if work.parts > 1 else 0, work.joining)
