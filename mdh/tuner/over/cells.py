"""Cells: parts of the ranges of sizes. In each, the largest size is a few times the least."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from mdh.ir.open_size import OpenSize

MOST = 12
"""The most cells: each is tuned by itself."""
LEAST_RATIO = 4
FEW = 8
"""Sizes up to so many multiples are one cell, apart from size 1."""


@dataclass(frozen=True, slots=True)
class Cell:
    """ranges: of each size, some of them with one value."""

    ranges: tuple[OpenSize, ...]

    @property
    def at(self) -> dict[str, int]:
        """The sizes that the cell is tuned for, three quarters of the largest: blocks at edges take part."""
        return {r.name: _inner(r) for r in self.ranges}

    @property
    def points(self) -> tuple[dict[str, int], ...]:
        """Sizes at which all schedules are measured: that of the tuning, the ends of the ranges, and twice
        the least."""
        found = [self.at, *({r.name: pick(r) for r in self.ranges} for pick in (_least, _most, _twice))]
        return tuple(p for n, p in enumerate(found) if p not in found[:n])

    @property
    def name(self) -> str:
        return " ".join(f"{r.name}={r}" for r in self.ranges)


def _least(size: OpenSize) -> int:
    return size.least


def _most(size: OpenSize) -> int:
    return size.most


def _twice(size: OpenSize) -> int:
    return min(2 * size.least, size.most)


def _inner(size: OpenSize) -> int:
    inner = size.most * 3 // 4 // size.multiple * size.multiple
    return max(size.least, inner)


def cells(ranges: Sequence[OpenSize]) -> tuple[Cell, ...]:
    """The cells, from small sizes to large ones. They cover the ranges, and no two share a size."""
    ratio = LEAST_RATIO
    while True:
        parts = [_parts(size, ratio) for size in ranges]
        if prod(map(len, parts)) <= MOST:
            return tuple(Cell(one) for one in product(*parts))
        ratio *= 2


def _parts(size: OpenSize, ratio: int) -> list[OpenSize]:
    """Ranges that cover one, each but the least `ratio` times as long as the one before. Size 1 is one of its
    own, since a product with one row is a matrix times a vector."""
    step = size.multiple
    least = size.least
    alone = [OpenSize(size.name, 1, 1)] if least == 1 and ratio == LEAST_RATIO else []
    least += len(alone)
    tops = [size.most]
    while (lower := tops[-1] // ratio // step * step) >= max(2 * least, FEW * step):
        tops.append(lower)
    starts = [least, *(top + step for top in reversed(tops[1:]))]
    return [*alone, *(_range(size.name, a, b, step) for a, b in zip(starts, reversed(tops), strict=True))]


def _range(name: str, least: int, most: int, multiple: int) -> OpenSize:
    return OpenSize(name, least, most, 1 if least == most else multiple)
