"""A worker: its device and versions, and its role among those that take part."""

import asyncio
from dataclasses import dataclass, field

from mdh.tuner.measure.bench import Ground

_OWN = frozenset({"python", "numpy"})
"""Versions that neither kernels nor times depend on."""


def key(ground: Ground) -> tuple[object, ...]:
    """What must be equal for times to be comparable."""
    own = tuple(v for v in ground.versions if v[0] not in _OWN)
    return ground.title, ground.target, ground.machine.arch, ground.machine.units, own


def unlike(ground: Ground, other: Ground) -> str:
    """The differences from `other` in words; empty if there are none."""
    if key(ground) == key(other):
        return ""
    units = ground.machine.units
    if (ground.title, units) != (other.title, other.machine.units):
        return f"its device is {ground.title} with {units} units"
    mine, theirs = dict(ground.versions), dict(other.versions)
    found = [f"{n} {mine.get(n, 'absent')}, not {theirs.get(n, 'absent')}"
             for n in sorted({*mine, *theirs} - _OWN) if mine.get(n) != theirs.get(n)]  # fmt: skip
    return f"it has {'; '.join(found)}" if found else f"it takes {ground.target}"


@dataclass(eq=False)
class Member:
    """A worker that takes part. gone: set when it is lost, for everyone who waits for its answer."""

    address: str
    host: str
    slots: int
    ground: Ground
    places: frozenset[str]
    busy: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
