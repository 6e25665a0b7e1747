"""Decides how finely the nesting of layers (K106) is counted: more finely for smaller spaces."""

from collections.abc import Sequence

from mdh.tuner.space.exact import Joint
from mdh.tuner.space.frames import BLOCK, GRID, THREAD, Nesting

SPLITS = (
    (20, (GRID, BLOCK, THREAD)),
    (5, (GRID, BLOCK + THREAD)),
)
"""Bands of layers, the finest first, and the factor by which they multiply the work of counting."""
MOST_WORK = 400_000
"""The most sums of a count; they take about half a second."""


def nested(plain: Joint, orders: Sequence[Sequence[int]]) -> Joint:
    """The joint chains restricted to layers that nest; `plain`, without that restriction, if even two bands
    are too much work. orders: for each stage its steps in code order.

    Layers of one band that are out of order in different dimensions are rejected draw by draw.
    """
    if not plain.count:
        return plain
    work = plain.work
    for factor, bands in SPLITS:
        if work * factor <= MOST_WORK:
            stages = dict.fromkeys(c.stage for c in plain.chains)
            members = [[c for c in plain.chains if c.stage == s] for s in stages]
            nestings = tuple(Nesting.of(m, orders[s], bands) for m, s in zip(members, stages, strict=True))
            return Joint(plain.chains, plain.groups, nestings)
    return plain
