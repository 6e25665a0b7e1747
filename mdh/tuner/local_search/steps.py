"""Changes of the list of steps."""

from random import Random

from mdh.schedule.model import ForEntry
from mdh.tuner.local_search.subject import SearchSubject, Steps, alone, atom_axes, tile_after, tile_before

_SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)


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
