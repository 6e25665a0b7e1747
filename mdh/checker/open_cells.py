"""Divides ranges of sizes into boxes, each of which has one schedule.

A range is a row of cells. A cell ends at a sample: its sizes are those above the sample before it. A box is a
run of cells along each size. The boxes come about by cuts, first of the whole and then of its parts, and of
all divisions that such cuts make the cheapest is found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, log2

from mdh.ir.open_size import OpenSize

ALL = 8
"""All values up to this one are samples of their own, in multiples of the range."""
MOST_CELLS = (64, 5, 3, 2)
"""The most cells of a size, where one, two, … sizes stay open."""
OCTAVE, FINE = 2, 32
"""Samples in a range from one value to its double; twice as many up to FINE, where tiles have few rows."""

Box = tuple[tuple[int, int], ...]
"""Numbers of the first and the last cell, by size."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a size. tops: their samples, the last of which is the largest value of the range."""

    size: OpenSize
    tops: tuple[int, ...]

    def least(self, n: int) -> int:
        return self.size.least if n == 0 else self.tops[n - 1] + self.size.multiple

    def range(self, first: int, last: int) -> OpenSize:
        least, most = self.least(first), self.tops[last]
        return OpenSize(self.size.name, least, most, 1 if least == most else self.size.multiple)

    def weight(self, n: int) -> float:
        """Octaves of a cell: how often its sizes are met if all octaves are met as often."""
        return log2((self.tops[n] + self.size.multiple) / self.least(n))


def cells_of(size: OpenSize, among: int) -> Cells:
    """among: the number of open sizes."""
    step = size.multiple
    first, last = size.least // step, size.most // step
    values = [*range(first, min(ALL, last) + 1), *_geometric(max(ALL, first), last), last]
    tops = sorted({n * step for n in values})
    most = MOST_CELLS[among - 1]
    if len(tops) > most:
        wanted = [tops[0] * (tops[-1] / tops[0]) ** (k / (most - 1)) for k in range(most)]
        tops = sorted({_nearest(tops, n) for n in wanted})
    return Cells(size, tuple(tops))


def _nearest(numbers: Sequence[int], wanted: float) -> int:
    return min(numbers, key=lambda n: abs(log2(n / wanted)))


def _geometric(first: int, last: int) -> list[int]:
    """Numbers above `first`, up to `last`: fractions of each power of two."""
    out, power = [], 1 << (first.bit_length() - 1)
    while power < last:
        count = 2 * OCTAVE if power < FINE else OCTAVE
        out += [power * (count + n) // count for n in range(count)]
        power *= 2
    return [n for n in out if first < n <= last]


@dataclass(frozen=True, slots=True)
class CellBox:
    """A box, and the number of the schedule that it has."""

    box: Box
    choice: int


def divided(
    counts: Sequence[int], cost: Callable[[Box], tuple[float, int] | None], price: float
) -> tuple[CellBox, ...]:
    """The boxes of the cheapest division; of the two sides of a cut, those with the larger sizes come first.
    Empty if some cell has no schedule. counts: cells by size. cost: the least cost of a box with a single
    schedule, and the number of that; None if no schedule is for the box. price: of each box."""

    @cache
    def best(box: Box) -> tuple[float, tuple[CellBox, ...]]:
        pieces: tuple[CellBox, ...]
        known = cost(box)
        least = inf if known is None else known[0] + price
        pieces = () if known is None else (CellBox(box, known[1]),)
        for below, above in _cuts(box):
            (first, low), (second, high) = best(below), best(above)
            if first + second < least:
                least, pieces = first + second, (*high, *low)
        return least, pieces

    return best(tuple((0, n - 1) for n in counts))[1]


def _cuts(box: Box) -> Iterable[tuple[Box, Box]]:
    for k, (first, last) in enumerate(box):
        for at in range(first, last):
            yield (*box[:k], (first, at), *box[k + 1 :]), (*box[:k], (at + 1, last), *box[k + 1 :])
