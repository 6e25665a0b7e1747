"""The cases of a table, from times at some sizes: each size has a legal schedule that is fast there."""

from collections.abc import Mapping
from functools import partial
from math import log
from random import Random

import pytest

from mdh.ir.open_size import OpenSize
from mdh.tuner.over.cells import Cell, cells
from mdh.tuner.over.choice import SWITCH, CaseChoice, Times, along, chosen

Points = list[tuple[Mapping[str, int], Times]]
Measured = list[tuple[Cell, Points]]


def _legal(tiles: list[int], number: int, ranges: tuple[OpenSize, ...]) -> bool:
    """As a tile of a schedule is: smaller than the largest size, or not larger than the only one."""
    first = ranges[0]
    return tiles[number] <= first.most if first.value is not None else tiles[number] < first.most


def _case(rng: Random) -> tuple[Measured, list[int]]:
    """Cells, and times of five schedules in them. Each schedule is fastest near one size."""
    ranges = [OpenSize("M", rng.randint(1, 9), rng.randint(20, 5000))]
    if rng.random() < 0.4:
        ranges.append(OpenSize("N", 8, 8 * rng.randint(2, 300), 8))
    tiles = [rng.choice((1, 2, 4, 16, 64)) for _ in range(5)]
    best = [rng.randint(1, 5000) for _ in range(5)]
    found: Measured = []
    for cell in cells(ranges):
        points: Points = []
        for point in cell.points[: rng.randint(0, 4)]:
            points.append((point, {
                n: (1 + abs(log(point["M"] / best[n]))) * rng.uniform(1, 1.05)
                for n in range(5)
                if _legal(tiles, n, cell.ranges) and rng.random() < 0.9
            }))  # fmt: skip
        found.append((cell, points))
    return found, tiles


def _first(choices: list[CaseChoice], sizes: Mapping[str, int]) -> CaseChoice | None:
    return next((c for c in choices if all(r.takes(sizes[r.name]) for r in c.ranges)), None)


@pytest.mark.parametrize("seed", range(200))
def test_cells_with_times_are_served(seed: int) -> None:
    rng = Random(seed)
    measured, tiles = _case(rng)
    legal = partial(_legal, tiles)
    choices = chosen(measured, legal)
    assert all(legal(c.schedule, c.ranges) for c in choices)
    single = len(measured[0][0].ranges) == 1
    for cell, points in measured:
        known = [t for _, t in points if t]
        common = set.intersection(*map(set, known)) if known else set()
        for _ in range(20):
            sizes = {r.name: rng.randrange(r.least, r.most + 1, r.multiple) for r in cell.ranges}
            found = _first(choices, sizes)
            if (single and known) or common:
                assert found is not None, (cell.name, sizes)
            if found is not None and known:
                assert any(found.schedule in t for t in known)


def test_a_change_must_pay() -> None:
    assert along([{0: 1.0, 1: 1.01}, {0: 1.01, 1: 1.0}]) == [0, 0]
    assert along([{0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0}]) == [0, 1]
    assert along([{0: 1.0}, {1: 1.0}, {0: 1.0, 1: 1.0 + SWITCH}]) in ([0, 1, 1], [0, 1, 0])


def test_the_boundary_lies_between_the_measured_sizes() -> None:
    (cell,) = cells((OpenSize("M", 64, 200, 8),))
    times: Points = [
        ({"M": 64}, {0: 1.0, 1: 2.0}),
        ({"M": 200}, {0: 2.0, 1: 1.0}),
    ]
    low, high = chosen([(cell, times)], lambda *_: True)
    assert (low.ranges, low.schedule) == ((OpenSize("M", 64, 112, 8),), 0)
    assert (high.ranges, high.schedule) == ((OpenSize("M", 120, 200, 8),), 1)


def test_a_tile_above_the_sizes_it_serves() -> None:
    """A case that is illegal for exactly its sizes goes on to larger ones, below the one for those."""
    (cell,) = cells((OpenSize("M", 20, 64),))
    times: Points = [
        ({"M": 20}, {0: 1.0, 1: 2.0}),
        ({"M": 64}, {0: 2.0, 1: 1.0}),
    ]
    choices = chosen([(cell, times)], partial(_legal, [48, 1]))
    assert [c.ranges for c in choices] == [(OpenSize("M", 36, 64),), (OpenSize("M", 20, 64),)]
    assert [c.schedule for c in choices] == [1, 0]
