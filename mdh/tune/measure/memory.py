"""The arrays of one run: private, between guard bands, on the device where it has memory of its own."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from mdh.device.api import Device
from mdh.reference.numbers import Array
from mdh.report.arguments import Guarded, guarded


class Twin(Protocol):
    """Memory of a device of the size of a block of the host's."""

    def send(self) -> None: ...

    def fetch(self) -> None: ...

    def view(self, array: Array) -> Any: ...


@runtime_checkable
class Twins(Protocol):
    """A device that takes its arrays in memory of its own."""

    def twin(self, memory: Array) -> Twin: ...


class Held:
    """Guarded copies of `before`. On a GPU the guard bands lie in the GPU's memory too."""

    def __init__(self, device: Device, before: Mapping[str, Array]) -> None:
        self.before = before
        self.guarded: dict[str, Guarded] = {name: guarded(array) for name, array in before.items()}
        self._twins: dict[str, Twin] = {}
        if isinstance(device, Twins):
            self._twins = {name: device.twin(g.memory) for name, g in self.guarded.items()}
        self._send()

    def arguments(self) -> dict[str, Any]:
        """What a call binds, by name."""
        out: dict[str, Any] = {name: g.array for name, g in self.guarded.items()}
        out.update((name, twin.view(self.guarded[name].array)) for name, twin in self._twins.items())
        return out

    def restore(self) -> None:
        """The contents before the first run, at the same place."""
        for name, g in self.guarded.items():
            g.array[...] = self.before[name]
        self._send()

    def fetch(self) -> None:
        """Make the host's side hold what the kernels left."""
        for twin in self._twins.values():
            twin.fetch()

    def _send(self) -> None:
        for twin in self._twins.values():
            twin.send()
