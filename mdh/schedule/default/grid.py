"""Chooses the dimensions that become axes of the grid, and the least size of their tiles."""

from collections.abc import Mapping, Sequence
from math import isqrt

from mdh.hardware import Layer
from mdh.machine import Machine
from mdh.schedule.model import Unit

LOW_AXIS_LIMIT = 65535
AXES = ("x", "y", "z")


def divisors(n: int) -> list[int]:
    """The divisors of a positive number, ascending. The time grows with the square root of the number."""
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    return ceil_div(a, b) * b


def power_up(n: int) -> int:
    """The least power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()


def block_axes(
    tiles: Mapping[int, int], extents: Sequence[int], machine: Machine, first: int | None = None
) -> dict[int, Unit]:
    """BLK axes for the dims of `tiles`: the three with most parts; `first` on x if it takes one at all.

    Dims left over become loops of each block.
    """
    parts = {d: ceil_div(extents[d], t) for d, t in tiles.items() if ceil_div(extents[d], t) > 1}
    chosen = sorted(parts, key=lambda d: (-parts[d], d))[:3]
    if first in chosen:
        chosen.remove(first)
        chosen.insert(0, first)
    if len(chosen) > 1 and max(parts[d] for d in chosen[1:]) > min(LOW_AXIS_LIMIT, machine.grid_limits[1]):
        chosen.sort(key=lambda d: -parts[d])
    fitting = [
        d
        for axis, d in enumerate(chosen)
        if parts[d]
        <= (machine.grid_limits[0] if axis == 0 else min(LOW_AXIS_LIMIT, machine.grid_limits[axis]))
    ]
    return {d: Unit(Layer.BLK, AXES[axis]) for axis, d in enumerate(fitting)}


def grid_size(units: Mapping[int, Unit], tiles: Mapping[int, int], extents: Sequence[int]) -> int:
    """The number of blocks of the grid."""
    blocks = 1
    for d in units:
        blocks *= ceil_div(extents[d], tiles[d])
    return blocks
