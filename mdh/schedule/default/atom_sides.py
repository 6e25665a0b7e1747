"""A side of a product on tensor cores: the dimensions of its rows or of its columns, and their tiles.

An atom takes all dimensions of a side, the last one the fastest, in tiles that are rounded up to powers of
two. The tiles of warps and of blocks are multiples of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd, prod, sqrt

from mdh.schedule.default.grid import ceil_div, power_up

USED_LEAST = 0.5
"""The smallest part of the places of atoms that are worth their use."""
LINES = 8
"""Rows of an atom that a matrix descriptor takes together."""
SECTOR = 32
"""Bytes that memory moves at once."""


@dataclass(frozen=True, slots=True)
class AtomSide:
    """dims, extents: of the side, in the order of the C. near: those along which elements of an array are
    neighbours, with the bytes of each. run: what divides the tile of the last one of several dimensions.
    dense: rows of atoms lie as matrix descriptors say (`mdh.checker.group_factors`). halo: elements that a
    copy holds for a window along each dimension, beside those of its tile. window: elements that tiles of a
    dimension share with the next one, in parts of a step along it; empty: none."""

    dims: tuple[int, ...]
    extents: tuple[int, ...]
    near: tuple[tuple[int, int], ...] = ()
    run: int = 1
    dense: bool = False
    halo: tuple[int, ...] = ()
    window: tuple[float, ...] = ()

    def fits(self, size: int) -> bool:
        """Whether an atom with so many places has few that are empty."""
        return side_tiles(self, size, size, 1) is not None


@dataclass(frozen=True)
class SideTiles:
    """Tiles by dimension: of an atom, of a warp and of a block. held: what a block copies along each, empty
    places included. used: the part of the places of all atoms that have elements."""

    atom: Mapping[int, int]
    warp: Mapping[int, int]
    block: Mapping[int, int] = field(default_factory=dict)
    held: Mapping[int, int] = field(default_factory=dict)
    used: float = 1.0

    @property
    def split(self) -> list[int]:
        """The dimensions that warps share out."""
        return [d for d, tile in self.block.items() if tile > self.warp[d]]


NONE = SideTiles({}, {})


@lru_cache(maxsize=4096)
def side_tiles(side: AtomSide, size: int, warp: int, warps: int) -> SideTiles | None:
    """The tiles of a block of `warps` warps that have `warp` places each, by atoms with `size` places; None
    if no tiles fit the side."""
    best: tuple[tuple[float, ...], SideTiles] | None = None
    for tiles, rooms in _atoms(side, size):
        for times in _factors(warp // size * warps, len(side.dims)):
            block = [t * n for t, n in zip(tiles, times, strict=True)]
            halo = side.halo or (0,) * len(block)
            held = [b - t + r + h for b, t, r, h in zip(block, tiles, rooms, halo, strict=True)]
            if any(b > extent for b, extent in zip(block, side.extents, strict=True)):
                continue
            if side.dense and not _followed(tiles, rooms, times, held):
                continue
            parts = (ceil_div(extent, b) for extent, b in zip(side.extents, block, strict=True))
            used = prod(side.extents) / prod(p * r * n for p, r, n in zip(parts, rooms, times, strict=True))
            runs = (min(block[side.dims.index(d)] * b / SECTOR, 1.0) for d, b in side.near)
            alone = prod(b / (b + w) for b, w in zip(block, side.window, strict=False))
            good = used * sqrt(prod(runs) * alone)
            worth = (good if len(side.dims) > 1 else 1.0, *rooms[::-1], *times[::-1])
            if best is None or worth > best[0]:
                own = [b // n for b, n in zip(block, _shares(times, warps), strict=True)]
                by_dim = [dict(zip(side.dims, x, strict=True)) for x in (tiles, own, block, held)]
                best = worth, SideTiles(by_dim[0], by_dim[1], by_dim[2], by_dim[3], used)
    if best is None or (len(side.dims) > 1 and best[1].used < USED_LEAST):
        return None
    return best[1]


def _atoms(side: AtomSide, size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Tiles of an atom, and the places that they take."""
    if len(side.dims) == 1:
        yield (size,), (size,)
        return
    for rooms in _factors(size, len(side.dims)):
        pairs = zip(side.extents, rooms, strict=True)
        # as many tiles as of whole powers of two, but equal ones
        tiles = tuple(ceil_div(extent, ceil_div(extent, room)) for extent, room in pairs)
        tight = all(power_up(t) == room for t, room in zip(tiles[1:], rooms[1:], strict=True))
        if tight and tiles[-1] % side.run == 0:
            yield tiles, rooms


def _followed(
    tiles: tuple[int, ...], rooms: tuple[int, ...], times: tuple[int, ...], held: list[int]
) -> bool:
    """Whether 8 rows of an atom follow one another in a copy of `held` elements along each dimension, and all
    groups of 8 at the same distance. times: atoms along each dimension."""
    weight = apart = 1
    groups = set[int]()
    for tile, room, count, all_ in reversed(list(zip(tiles, rooms, times, held, strict=True))):
        if (count > 1 and tile < room) or (room > 1 and weight < LINES and apart != weight):
            return False
        if weight * room > LINES and room > 1:
            if apart * LINES % weight:
                return False
            groups.add(apart * LINES // weight)
        weight, apart = weight * room, apart * all_
    return len(groups) <= 1


def _factors(n: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of `count` others."""
    if count == 1:
        yield (n,)
        return
    for first in (m for m in range(1, n + 1) if n % m == 0):
        yield from ((first, *rest) for rest in _factors(n // first, count - 1))


def _shares(times: tuple[int, ...], warps: int) -> tuple[int, ...]:
    """The parts of a block along each dimension, by warps: along one of them if that will do."""
    whole = next((i for i, n in enumerate(times) if n % warps == 0), None)
    if whole is not None:
        return tuple(warps if i == whole else 1 for i in range(len(times)))
    out = []
    for n in times:
        out.append(gcd(n, warps))
        warps //= out[-1]
    return tuple(out)
