"""Changes of tile sizes."""

from dataclasses import replace
from random import Random

from mdh.schedule.model import Caret, Core, TileEntry
from mdh.tuner.local_search.subject import SearchSubject, Steps, atom_axes, next_loop, put, tile_before

_FEW = (1, 2, 4, 8, 16)
_UNSPLIT = 0.15
"""The probability of splitting a dimension that is not split; otherwise an existing tile is changed."""


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
