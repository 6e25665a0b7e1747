"""A worker: its device and versions, and its role among those that take part."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mdh.machine import Machine, read_machine
from mdh.source import Source

_OWN = frozenset({"python", "numpy"})
"""Versions that neither kernels nor times depend on."""


@dataclass(frozen=True, slots=True)
class Model:
    """What must be equal for times to be comparable."""

    title: str
    target: str
    machine: Machine
    versions: tuple[tuple[str, str], ...]

    @property
    def key(self) -> tuple[object, ...]:
        own = tuple(v for v in self.versions if v[0] not in _OWN)
        return self.title, self.target, self.machine.arch, self.machine.units, own

    def unlike(self, other: "Model") -> str:
        """The differences from `other` in words; empty if there are none."""
        if self.key == other.key:
            return ""
        if (self.title, self.machine.units) != (other.title, other.machine.units):
            return f"its device is {self.title} with {self.machine.units} units"
        mine, theirs = dict(self.versions), dict(other.versions)
        found = [f"{n} {mine.get(n, 'absent')}, not {theirs.get(n, 'absent')}"
                 for n in sorted({*mine, *theirs} - _OWN) if mine.get(n) != theirs.get(n)]  # fmt: skip
        return f"it has {'; '.join(found)}" if found else f"it takes {self.target}"


@dataclass(eq=False)
class Member:
    """A worker that takes part. gone: set when it is lost, for everyone who waits for its answer."""

    address: str
    host: str
    slots: int
    model: Model
    places: frozenset[str]
    busy: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)


def read_model(reply: Mapping[str, Any]) -> Model:
    """The model of a worker that has opened its bench. Raises Failed if the answer is malformed."""
    versions = tuple((str(name), str(value)) for name, value in reply["versions"])
    return Model(
        reply["title"], reply["target"], read_machine(Source("<worker>", reply["machine"])), versions
    )
