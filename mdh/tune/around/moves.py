"""A schedule to one of its neighbours: one change or a few."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from mdh.schedule.model import Schedule, Section
from mdh.tune.around.attributes import attributed
from mdh.tune.around.cores import exchanged, handed_over, shared_out
from mdh.tune.around.places import placed, turned
from mdh.tune.around.steps import dropped, split, swapped
from mdh.tune.around.subject import Move, Steps, Subject
from mdh.tune.around.tiles import resized, scaled

MOVES: Mapping[Move, int] = {
    resized: 8, scaled: 3, placed: 3, turned: 1, attributed: 5, exchanged: 1, handed_over: 1, shared_out: 2,
    split: 2, dropped: 1, swapped: 1,
}  # fmt: skip
"""How often each is chosen. Sizes are most of what a schedule says."""
_COUNTS = (1, 1, 1, 2, 2, 3)
"""Changes of one neighbour: some are of use only together."""
_TRIES = 20


def neighbour(schedule: Schedule, subjects: Mapping[str | None, Subject], rng: Random) -> Schedule | None:
    """A changed schedule, legal or not; None where nothing could be changed. subjects: of the sections, by
    their names."""
    sections = list(schedule.sections)
    for _ in range(rng.choice(_COUNTS)):
        at = rng.randrange(len(sections))
        steps = _moved(sections[at].steps, subjects[sections[at].name], rng)
        if steps is not None:
            sections[at] = _numbered(sections[at], steps)
    changed = replace(schedule, sections=tuple(sections))
    return None if changed == schedule else changed


def _moved(steps: Steps, subject: Subject, rng: Random) -> Steps | None:
    for _ in range(_TRIES):
        (move,) = rng.choices(list(MOVES), list(MOVES.values()))
        found = move(steps, subject, rng)
        if found is not None:
            return found
    return None


def _numbered(section: Section, steps: Steps) -> Section:
    return replace(section, steps=tuple(replace(s, label=n + 1) for n, s in enumerate(steps)))
