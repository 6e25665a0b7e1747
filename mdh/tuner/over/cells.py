"""Cells: parts of the ranges of sizes. In each, the largest size is a few times the least."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from mdh.ir.open_size import OpenSize

MOST = 12
"""The most cells that are tuned."""
LEAST_RATIO = 4
FEW, SMALL = 8, 16
"""The first so many sizes, up to this size, are cells by themselves: kernels for one small size need no
guards, and keep all of it in registers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """ranges: of each size, some of them with one value. tuned: whether it is tuned; if not, it has the
    default schedule for its sizes."""

    ranges: tuple[OpenSize, ...]
    tuned: bool = True

    @property
    def at(self) -> dict[str, int]:
        """The sizes that the cell is tuned for, three quarters of the largest: blocks at edges take part."""
        return {r.name: _inner(r, r.most * 3 // 4) for r in self.ranges}

    @property
    def points(self) -> tuple[dict[str, int], ...]:
        """Sizes at which all schedules are measured: that of the tuning, the ends of the ranges, and others
        between them. The first tell the most."""
        at = [self.at, {r.name: r.least for r in self.ranges}, {r.name: r.most for r in self.ranges}]
        for factor in (2.0, 2**0.5, 2**1.5):
            at.append({r.name: _inner(r, int(factor * r.least)) for r in self.ranges})
        return tuple(p for n, p in enumerate(at) if p not in at[:n])

    @property
    def name(self) -> str:
        return " ".join(f"{r.name}={r}" for r in self.ranges)


def _inner(size: OpenSize, value: int) -> int:
    """The size at `value`, or the nearest of the range below it."""
    return max(size.least, min(size.most, value) // size.multiple * size.multiple)


def cells(ranges: Sequence[OpenSize]) -> tuple[Cell, ...]:
    """The cells, from small sizes to large ones. They cover the ranges, and no two share a size."""
    if len(ranges) == 1:
        return _of_one(ranges[0])
    ratio = LEAST_RATIO
    while prod(len(_parts(size, ratio)) for size in ranges) > MOST:
        ratio *= 2
    return tuple(Cell(one) for one in product(*(_parts(size, ratio) for size in ranges)))


def _of_one(size: OpenSize) -> tuple[Cell, ...]:
    """Of the sizes that are cells by themselves, size 1 is tuned, since a product with one row is a matrix
    times a vector; and the last, if there are no others."""
    step = size.multiple
    few = range(size.least, min(FEW * step, SMALL, size.most) + 1, step)
    first = [Cell((_range(size.name, n, n, step),), tuned=n in (1, size.most)) for n in few]
    if few and few[-1] == size.most:
        return tuple(first)
    rest = _range(size.name, few[-1] + step if few else size.least, size.most, step)
    ratio = LEAST_RATIO
    while len(_parts(rest, ratio)) > MOST:
        ratio *= 2
    return (*first, *(Cell((part,)) for part in _parts(rest, ratio)))


def _parts(size: OpenSize, ratio: int) -> list[OpenSize]:
    """Ranges that cover one, each but the least `ratio` times as long as the one before."""
    step = size.multiple
    tops = [size.most]
    while (lower := tops[-1] // ratio // step * step) >= max(2 * size.least, FEW * step):
        tops.append(lower)
    starts = [size.least, *(top + step for top in reversed(tops[1:]))]
    return [_range(size.name, a, b, step) for a, b in zip(starts, reversed(tops), strict=True)]


def _range(name: str, least: int, most: int, multiple: int) -> OpenSize:
    return OpenSize(name, least, most, 1 if least == most else multiple)
