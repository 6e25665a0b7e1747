"""Makes a neighbour of a schedule by one change or a few."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from mdh.schedule.model import Schedule, Section
from mdh.tuner.local_search.attributes import attributed
from mdh.tuner.local_search.cores import exchanged, handed_over, interleaved, shared_out
from mdh.tuner.local_search.places import placed, turned
from mdh.tuner.local_search.subject import Move, SearchSubject, Steps
from mdh.tuner.local_search.tiles import dropped, resized, scaled, split, swapped

MOVES: Mapping[Move, int] = {
    resized: 8, scaled: 3, placed: 3, turned: 1, attributed: 5, exchanged: 1, handed_over: 1, shared_out: 2,
    interleaved: 1, split: 2, dropped: 1, swapped: 1,
}  # fmt: skip
"""The relative frequency of each move. Sizes are the largest part of a schedule."""
_COUNTS = (1, 1, 1, 2, 2, 3)
"""The number of changes of a neighbour. Some changes help only together."""
_TRIES = 20


def neighbour(
    schedule: Schedule, subjects: Mapping[str | None, SearchSubject], rng: Random
) -> Schedule | None:
    """A changed schedule, legal or not; None if nothing could be changed. subjects: of the sections, by their
    names."""
    sections = list(schedule.sections)
    # a stage of a single element has no steps to change
    telling = [i for i, section in enumerate(sections) if section.steps and subjects[section.name].extents]
    if not telling:
        return None
    for _ in range(rng.choice(_COUNTS)):
        at = rng.choice(telling)
        steps = _moved(sections[at].steps, subjects[sections[at].name], rng)
        if steps is not None:
            sections[at] = _labelled(sections[at], steps)
    changed = replace(schedule, sections=tuple(sections))
    return None if changed == schedule else changed


def _moved(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    for _ in range(_TRIES):
        (move,) = rng.choices(list(MOVES), list(MOVES.values()))
        found = move(steps, subject, rng)
        if found is not None:
            return found
    return None


def _labelled(section: Section, steps: Steps) -> Section:
    """The section with labels for its new steps. Steps keep their place in the code order, and a new one
    follows the one above it. A code order that was the text order stays so."""
    labels = [step.label for step in section.steps if step.label is not None]
    if not labels or labels == sorted(labels):
        return replace(section, steps=tuple(replace(s, label=n + 1) for n, s in enumerate(steps)))
    places, last = [], 0.0
    for step in steps:
        last = last + 0.5 if step.label is None else float(step.label)
        places.append(last)
    first = 0 if 0 in (step.label for step in steps) else 1
    order = sorted(range(len(steps)), key=lambda i: (places[i], i))
    label = {i: first + n for n, i in enumerate(order)}
    return replace(section, steps=tuple(replace(s, label=label[i]) for i, s in enumerate(steps)))
