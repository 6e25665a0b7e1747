"""Plans of contractions on a GPU whose rows or columns have several dimensions: a box of them for each block.

The lanes of a side lie along one of its dimensions. A thread holds neighbouring results along that dimension
and some along the others. So short dimensions are taken whole, and few places of a box lie outside.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

from mdh.cost.gpu import VECTOR_BYTES, Joining
from mdh.machine import Machine
from mdh.schedule.default.contraction_atoms import PARTS
from mdh.schedule.default.grid import ceil_div
from mdh.schedule.default.ladder import BlockTile
from mdh.schedule.default.ladder_plans import LadderTiling, held_registers, in_parts, may_share, planned
from mdh.schedule.default.operands import Contraction
from mdh.schedule.default.shape import Shape

NEIGHBOURS = (1, 2, 3, 4)
"""Results of a thread along the dimension of its lanes."""
HELD = (1, 2, 3, 4, 6, 8)
"""Results of a thread along another dimension that it does not hold whole."""
LANES = (4, 8, 16, 32)
"""Lanes along a dimension that is not taken whole."""
OWN, SIDE = 12, 160
"""The most results of a thread, and of a block, along a side."""
RESULTS, THREADS = (4, 64), (64, 256)
"""The fewest and the most results of a thread, and threads of a block."""
FAR = 1.25
"""Times the least waste: boxes that waste more are not looked at."""
DEPTH = 16
"""Iterations of the sum that a block stages at once."""


@dataclass(frozen=True, slots=True)
class BoxSide:
    """A box of the dimensions of one side.

    lane: the dimension of the lanes, own: a thread's elements of it. near: another dimension, along which
    threads read vectors; None: they read them along the lanes' own. vector: elements of one. waste: places of
    all boxes in parts of the elements.
    """

    block: Mapping[int, int]
    lane: int
    own: int
    near: int | None
    vector: int
    waste: float

    @property
    def size(self) -> int:
        return prod(self.block.values())

    @property
    def lanes(self) -> int:
        return ceil_div(self.block[self.lane], self.own)

    @property
    def held(self) -> int:
        """Results of a thread along the side."""
        return self.size // self.block[self.lane] * self.own


def box_plans(
    shape: Shape, found: Contraction, machine: Machine, joining: Joining
) -> Iterator[tuple[Contraction, LadderTiling]]:
    """Plans, and the contraction with the dimensions of the lanes first."""
    for rows, columns in product(sides(shape, found.rows), sides(shape, found.columns)):
        held, threads = rows.held * columns.held, rows.lanes * columns.lanes
        # threads lie in rows, and warps have no tiles of their own
        tile = BlockTile((rows.size, columns.size), (0, 0), (rows.held, columns.held), DEPTH)
        if (
            RESULTS[0] <= held <= RESULTS[1]
            and THREADS[0] <= threads <= min(THREADS[1], machine.threads_per_block)
            and held_registers(shape, found, 1, tile.thread) <= machine.registers_per_thread
        ):
            turned = replace(
                found, rows=first(found.rows, rows.lane), columns=first(found.columns, columns.lane)
            )
            block = {**dict.fromkeys(found.batch, 1), **rows.block, **columns.block}
            thread = {rows.lane: rows.own, columns.lane: columns.own}
            counts = PARTS if may_share(shape, turned, machine, block) else (1,)
            plan = partial(planned, shape, turned, machine, tile, block, thread)
            near = rows.near, columns.near
            yield from ((turned, replace(one, near=near)) for one in in_parts(plan, joining, counts))


def first(dims: tuple[int, ...], main: int) -> tuple[int, ...]:
    """The dimensions with `main` in front."""
    return (main, *(d for d in dims if d != main))


def sides(shape: Shape, dims: tuple[int, ...]) -> list[BoxSide]:
    """Boxes of a side: for each number of lanes and of results of a thread, the one that wastes least, unless
    it wastes FAR more than others. Of equal ones, that with its lanes along an earlier dimension."""
    best = dict[tuple[int, int, int], BoxSide]()
    for side in _boxes(shape.extents, dims, VECTOR_BYTES // shape.value_bytes):
        key = side.held, side.lanes, side.vector
        if key not in best or side.waste < best[key].waste:
            best[key] = side
    least = min((side.waste for side in best.values()), default=1.0)
    return [side for side in best.values() if side.waste <= FAR * least]


def _boxes(extents: tuple[int, ...], dims: tuple[int, ...], widest: int) -> Iterator[BoxSide]:
    """widest: elements of the widest access."""
    for lane, own in product(dims, NEIGHBOURS):
        extent = extents[lane]
        others = [d for d in dims if d != lane]
        spans = {min(extent, own * n) for n in LANES} | ({extent} if extent <= LANES[-1] * own else set())
        held = [[t for t in sorted({*HELD, extents[d]}) if t <= extents[d]] for d in others]
        for size, more in product(sorted(spans), _held(held, OWN // own)):
            if own <= size and size * prod(more) <= SIDE:
                block = {lane: size, **dict(zip(others, more, strict=True))}
                places = prod(ceil_div(extents[d], t) * t for d, t in block.items())
                rounded = ceil_div(size, own) * own / size
                along = [(_vector(own, widest), None), *((_vector(block[d], widest), d) for d in others)]
                vector, near = max(along, key=lambda one: one[0])
                waste = rounded * places / prod(extents[d] for d in dims)
                yield BoxSide(block, lane, own, near, vector, waste)


def _vector(elements: int, widest: int) -> int:
    """Neighbours that a thread reads with one access, of so many that it holds."""
    return min(widest, elements & -elements)


def _held(choices: list[list[int]], most: int) -> Iterator[tuple[int, ...]]:
    """One of each, so that the product is at most `most`."""
    if not choices:
        yield ()
        return
    for first in choices[0]:
        if first <= most:
            yield from ((first, *rest) for rest in _held(choices[1:], most // first))
