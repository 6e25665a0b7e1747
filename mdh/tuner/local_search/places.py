"""Changes of the memory in which operands and results lie."""

from dataclasses import replace
from random import Random

from mdh.hardware import Space
from mdh.schedule.model import BufferPlace, Caret, Mem
from mdh.tuner.local_search.subject import SearchSubject, Steps, entries_of, with_entry

_REGIONS = (Space.SM, Space.SM, Space.SM, Space.RM)
_HELD = (Space.RM, Space.RM, Space.RM, Space.SM)
"""The regions that copies of inputs, and results, are put in."""
_TURNED = 0.3
"""The probability that a layout differs from the array's own order."""


def placed(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Adds or removes the placement of a buffer at a step."""
    at = rng.randrange(len(steps))
    n = rng.randrange(len(entries_of(steps[at])))
    if isinstance(entries_of(steps[at])[n].value, BufferPlace):
        return with_entry(steps, at, n, Mem(Caret()))
    name, inputs = subject.buffers[n], len(steps[at].inputs)
    layout = list(range(1, dict(subject.ranks)[name] + 1))
    if rng.random() < _TURNED:
        rng.shuffle(layout)
    region = rng.choice(_REGIONS if n < inputs else _HELD)
    return with_entry(steps, at, n, Mem(BufferPlace(name, region, tuple(layout)))) if layout else None


def turned(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Exchanges two dimensions of a layout."""
    found = [
        (i, n, entry.value.layout)
        for i, step in enumerate(steps)
        for n, entry in enumerate(entries_of(step))
        if isinstance(entry.value, BufferPlace) and isinstance(entry.value.layout, tuple)
    ]
    found = [(i, n, layout) for i, n, layout in found if len(layout) > 1]
    if not found:
        return None
    at, n, layout = rng.choice(found)
    a, b = rng.sample(range(len(layout)), 2)
    other = list(layout)
    other[a], other[b] = layout[b], layout[a]
    entry = entries_of(steps[at])[n]
    assert isinstance(entry.value, BufferPlace)
    return with_entry(steps, at, n, replace(entry, value=replace(entry.value, layout=tuple(other))))
