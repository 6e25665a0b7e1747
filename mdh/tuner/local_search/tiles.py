"""Changes of tile sizes, and of the list of steps."""

from dataclasses import replace
from random import Random

from mdh.schedule.model import Caret, Core, ForEntry, TileEntry
from mdh.tuner.local_search.subject import (
    SearchSubject,
    Steps,
    alone,
    atom_axes,
    next_loop,
    put,
    tile_after,
    tile_before,
)

_FEW = (1, 2, 4, 8, 16)
_UNSPLIT = 0.15
"""The probability of splitting a dimension that is not split; otherwise an existing tile is changed."""

_SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)


def resized(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Changes a tile of one dimension at one step. Smaller tiles below it are adapted where they must be."""
    at = rng.randrange(len(steps))
    split = [d for d, tile in enumerate(steps[at].tiles) if isinstance(tile.value, int)]
    dims = range(len(subject.extents)) if rng.random() < _UNSPLIT else split
    if not dims:
        return None
    dim = rng.choice(dims)
    before = tile_before(steps, at, dim, subject)
    now = steps[at].tiles[dim].value
    size = now if isinstance(now, int) else before
    axes = atom_axes(steps)
    _, unit = axes.get(dim, ("", 1))
    near = {
        2 * size, 3 * size, size // 2, size // 3, size * 3 // 2, size * 3 // 4, size + unit, size - unit,
        *(-(-before // n) for n in (1, 2, 3, 4)), *(unit * n for n in _FEW),
    }  # fmt: skip
    if axes and at == len(steps) - 1:
        # atoms differ along k
        near, unit = ({2 * size, size // 2} if axes.get(dim, ("", 1))[0] == "k" else set()), 1
    sizes = sorted(s for s in near if 1 <= s <= before and s != size and s % unit == 0)
    if not sizes:
        return None
    return _cut(steps, at, dim, rng.choice(sizes), before)


def scaled(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Scales the tiles of one dimension by one factor, at a step and at all before it. The units between keep
    their number."""
    at = rng.randrange(len(steps))
    dims = [d for d, tile in enumerate(steps[at].tiles) if isinstance(tile.value, int) and tile.value > 1]
    if not dims:
        return None
    dim = rng.choice(dims)
    up, down = rng.choice(((2, 1), (1, 2), (3, 2), (2, 3), (3, 1), (1, 3)))
    for i in range(at + 1):
        size = steps[i].tiles[dim].value
        if isinstance(size, int):
            steps = _cut(steps, i, dim, max(1, size * up // down), tile_before(steps, i, dim, subject))
    return steps


def _cut(steps: Steps, at: int, dim: int, size: int, before: int) -> Steps:
    """The step's dimension with a tile of `size`; without a tile if `size` is all of `before`. A dimension
    that was not split becomes a loop."""
    step, whole = steps[at], size >= before
    tile = TileEntry(Caret()) if whole else replace(step.tiles[dim], value=size)
    core = step.cores[dim]
    if whole:
        core = Core(Caret())
    elif isinstance(core.value, Caret):
        core = next_loop(step)
    tiles = (*step.tiles[:dim], tile, *step.tiles[dim + 1 :])
    cores = (*step.cores[:dim], core, *step.cores[dim + 1 :])
    steps = put(steps, at, replace(step, tiles=tiles, cores=cores))
    for i in range(at + 1, len(steps)):
        inner = steps[i].tiles[dim]
        if isinstance(inner.value, int) and inner.value > size:
            tiles = (*steps[i].tiles[:dim], replace(inner, value=size), *steps[i].tiles[dim + 1 :])
            steps = put(steps, i, replace(steps[i], tiles=tiles))
    return steps


def split(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Adds a step: a loop over parts of one dimension."""
    axes = atom_axes(steps)
    # nothing can split an atom
    at, dim = rng.randrange(len(steps) + (not axes)), rng.randrange(len(subject.extents))
    before, after = tile_before(steps, at, dim, subject), tile_after(steps, at, dim)
    sizes = sorted({*_SIZES, -(-before // 2), -(-before // 3), -(-before // 4)})
    _, unit = axes.get(dim, ("", 1))
    sizes = [size for size in sizes if after <= size < before and size % unit == 0]
    if not sizes:
        return None
    return (*steps[:at], alone(subject, dim, rng.choice(sizes), ForEntry(1)), *steps[at:])


def dropped(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Removes a step."""
    if len(steps) < 2:
        return None
    at = rng.randrange(len(steps))
    return (*steps[:at], *steps[at + 1 :])


def swapped(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Exchanges two consecutive steps."""
    if len(steps) < 2:
        return None
    at = rng.randrange(len(steps) - 1)
    return (*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :])
