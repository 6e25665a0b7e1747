"""Changes of the core layers that work on the parts."""

from dataclasses import replace
from random import Random

from mdh.hardware import Layer
from mdh.schedule.model import Caret, Core, ForEntry, Step, Unit
from mdh.tuner.local_search.subject import (
    SearchSubject,
    Steps,
    alone,
    next_loop,
    put,
    tile_after,
    tile_before,
)
from mdh.tuner.space.signature import AXES


def exchanged(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Exchanges the units' axes of two dimensions of a step, or the order of their loops."""
    at = rng.randrange(len(steps))
    step = steps[at]
    split = [d for d, core in enumerate(step.cores) if not isinstance(core.value, Caret)]
    pairs = [(a, b) for a in split for b in split if a < b and _alike(step, a, b)]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    cores = list(step.cores)
    cores[a], cores[b] = (
        replace(cores[a], value=cores[b].value),
        replace(cores[b], value=cores[a].value),
    )
    return put(steps, at, replace(step, cores=tuple(cores)))


def _alike(step: Step, a: int, b: int) -> bool:
    one, other = step.cores[a].value, step.cores[b].value
    if isinstance(one, Unit) and isinstance(other, Unit):
        return one.layer == other.layer
    return isinstance(one, ForEntry) and isinstance(other, ForEntry)


def handed_over(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Moves a unit to another dimension with the same tile; the first dimension is no longer split."""
    at = rng.randrange(len(steps))
    step = steps[at]
    units = [d for d, core in enumerate(step.cores) if isinstance(core.value, Unit)]
    free = [d for d, core in enumerate(step.cores) if isinstance(core.value, Caret)]
    if not units or not free:
        return None
    a, b = rng.choice(units), rng.choice(free)
    tiles, cores = list(step.tiles), list(step.cores)
    tiles[a], tiles[b], cores[a], cores[b] = tiles[b], tiles[a], cores[b], cores[a]
    return put(steps, at, replace(step, tiles=tuple(tiles), cores=tuple(cores)))


def shared_out(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Gives a dimension that a step does not split to units of a layer, or replaces units by a loop."""
    at, dim = rng.randrange(len(steps)), rng.randrange(len(subject.extents))
    step = steps[at]
    if isinstance(step.cores[dim].value, Unit):
        return put(
            steps, at, replace(step, cores=(*step.cores[:dim], next_loop(step), *step.cores[dim + 1 :]))
        )
    there = {core.value.layer for core in step.cores if isinstance(core.value, Unit)}
    layer = rng.choice(sorted(there) or [name for name in subject.layers if name != Layer.VEC])
    units = [c.value for s in steps for c in s.cores if isinstance(c.value, Unit)]
    axes = [axis for axis in AXES if Unit(layer, axis) not in units]
    before, after = tile_before(steps, at, dim, subject), tile_after(steps, at + 1, dim)
    sizes = sorted({-(-before // n) for n in (2, 3, 4, 6, 8, 12, 16, 32)} | {after})
    sizes = [s for s in sizes if after <= s < before]
    if not axes or not sizes:
        return None
    tile = replace(step.tiles[dim], value=rng.choice(sizes))
    return put(
        steps, at,
        replace(
            step, tiles=(*step.tiles[:dim], tile, *step.tiles[dim + 1 :]),
            cores=(*step.cores[:dim], Core(Unit(layer, axes[0])), *step.cores[dim + 1 :]),
        ),
    )  # fmt: skip


def interleaved(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Puts the threads of one dimension on every second lane, and in another step on groups of lanes that the
    other dimension's threads fill. Shared memory then serves their reads in half as many accesses."""
    threads = [d for step in steps for d in _threads(step)]
    at = next((at for at, step in enumerate(steps) if len(_threads(step)) == 2), None)
    if Layer.WRP not in subject.layers or len(threads) != 2 or at is None:
        return None
    step = steps[at]
    first, second = rng.sample(_threads(step), 2)
    own = 2 * tile_after(steps, at, first)
    if own >= tile_before(steps, at, first, subject):
        return None
    cores = list(step.cores)
    cores[first] = replace(cores[first], value=Unit(Layer.THR, "x"))
    cores[second] = replace(cores[second], value=Unit(Layer.THR, "y"))
    groups, lanes = alone(subject, first, own, Unit(Layer.THR, "z")), replace(step, cores=tuple(cores))
    return (*steps[:at], groups, lanes, *steps[at + 1 :])


def _threads(step: Step) -> list[int]:
    """Dimensions that a step gives to threads."""
    units = ((d, core.value) for d, core in enumerate(step.cores))
    return [d for d, unit in units if isinstance(unit, Unit) and unit.layer == Layer.THR]
