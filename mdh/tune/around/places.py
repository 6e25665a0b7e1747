"""Changes of where operands lie."""

from dataclasses import replace
from random import Random

from mdh.schedule.model import Caret, Mem, Place
from mdh.tune.around.subject import Steps, Subject, put

_REGIONS = ("SM", "SM", "SM", "RM")
_TURNED = 0.3
"""Chance that a copy's dimensions come in another order than the array's."""


def placed(steps: Steps, subject: Subject, rng: Random) -> Steps | None:
    """An input is copied at a step where it was not, or no longer where it was."""
    if not subject.inputs:
        return None
    at, n = rng.randrange(len(steps)), rng.randrange(len(subject.inputs))
    if isinstance(steps[at].inputs[n].value, Place):
        return _with_input(steps, at, n, Mem(Caret()))
    name = subject.inputs[n]
    layout = list(range(1, dict(subject.ranks)[name] + 1))
    if rng.random() < _TURNED:
        rng.shuffle(layout)
    return _with_input(steps, at, n, Mem(Place(name, rng.choice(_REGIONS), tuple(layout))))


def turned(steps: Steps, subject: Subject, rng: Random) -> Steps | None:
    """Two dimensions of a copy change their order."""
    copies = [
        (i, n, entry.value)
        for i, step in enumerate(steps)
        for n, entry in enumerate(step.inputs)
        if isinstance(entry.value, Place) and _turns(entry.value)
    ]
    if not copies:
        return None
    at, n, place = rng.choice(copies)
    assert isinstance(place.layout, tuple)
    layout = list(place.layout)
    a, b = rng.sample(range(len(layout)), 2)
    layout[a], layout[b] = layout[b], layout[a]
    entry = replace(steps[at].inputs[n], value=replace(place, layout=tuple(layout)))
    return _with_input(steps, at, n, entry)


def _turns(place: Place) -> bool:
    return isinstance(place.layout, tuple) and len(place.layout) > 1


def _with_input(steps: Steps, at: int, n: int, entry: Mem) -> Steps:
    inputs = steps[at].inputs
    return put(steps, at, replace(steps[at], inputs=(*inputs[:n], entry, *inputs[n + 1 :])))
