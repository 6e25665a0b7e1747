"""Cells cover the ranges, and share no size."""

from itertools import product
from random import Random

import pytest

from mdh.ir.open_size import OpenSize
from mdh.tuner.over.cells import MOST, cells


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (OpenSize("M", 1, 4096), "1 2 3 4 5 6 7 8 9..64 65..256 257..1024 1025..4096"),
        (OpenSize("M", 8, 4096, 8), "8 16 24..64:8 72..256:8 264..1024:8 1032..4096:8"),
        (OpenSize("M", 100, 130), "100..130"),
        (OpenSize("M", 1, 3), "1 2 3"),
    ],
)
def test_cells_of_one_size(size: OpenSize, names: str) -> None:
    assert " ".join(str(c.ranges[0]) for c in cells((size,))) == names


@pytest.mark.parametrize("seed", range(60))
def test_every_size_is_in_one_cell(seed: int) -> None:
    rng = Random(seed)
    sizes = []
    for name in "MNK"[: rng.randint(1, 3)]:
        multiple = rng.choice((1, 1, 3, 8))
        least = rng.randint(1, 40)
        sizes.append(OpenSize(name, least * multiple, (least + rng.randint(1, 10**4)) * multiple, multiple))
    found = cells(sizes)
    assert 1 <= sum(c.tuned for c in found) <= MOST + 1
    for cell in found:
        for point in cell.points:
            assert all(r.takes(point[r.name]) for r in cell.ranges)
            assert all(s.takes(point[s.name]) for s in sizes)
    ends = [[r.least for r in c.ranges] for c in found] + [[r.most for r in c.ranges] for c in found]
    drawn = [[rng.randrange(s.least, s.most + 1, s.multiple) for s in sizes] for _ in range(40)]
    corners = product(*((s.least, s.most) for s in sizes))
    for point in (*ends, *drawn, *corners):
        inside = [c for c in found if all(r.takes(v) for r, v in zip(c.ranges, point, strict=True))]
        assert len(inside) == 1, point
