"""The arrays of one run: private, between guard bands, and in device memory if the device has its own."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from mdh.device.protocols import Device
from mdh.reference.numbers import Array
from mdh.verify.arguments import Guarded, guarded


class Twin(Protocol):
    """Device memory of the size of a block of host memory."""

    def send(self) -> None: ...

    def fetch(self) -> None: ...

    @property
    def argument(self) -> Any:
        """What a call takes instead of the array."""


@runtime_checkable
class Twins(Protocol):
    """A device that may have memory of its own."""

    def twin(self, memory: Array, array: Array) -> Twin | None:
        """The device's copy of `memory`, a block of host memory that `array` is a part of. None if the device
        works in the host's memory."""


class Held:
    """Guarded copies of `before`. On a GPU the guard bands are in the GPU's memory too.

    in_place: each launch of a call sees what `restore` put there.
    """

    def __init__(self, device: Device, before: Mapping[str, Array]) -> None:
        self.before = before
        self.guarded: dict[str, Guarded] = {name: guarded(array) for name, array in before.items()}
        self.in_place = device.in_place
        self._twins: dict[str, Twin] = {}
        if isinstance(device, Twins):
            twins = {name: device.twin(g.memory, g.array) for name, g in self.guarded.items()}
            self._twins = {name: twin for name, twin in twins.items() if twin is not None}
            # calls are bound to the device's copies themselves
            self.in_place |= bool(self._twins)
        self._send()

    def arguments(self) -> dict[str, Any]:
        """The arguments that a call binds, by name."""
        out: dict[str, Any] = {name: g.array for name, g in self.guarded.items()}
        out.update((name, twin.argument) for name, twin in self._twins.items())
        return out

    def restore(self) -> None:
        """Restores the contents from before the first run, at the same place."""
        for name, g in self.guarded.items():
            g.array[...] = self.before[name]
        self._send()

    def fetch(self) -> None:
        """Copies what the kernels left to the host."""
        for twin in self._twins.values():
            twin.fetch()

    def _send(self) -> None:
        for twin in self._twins.values():
            twin.send()
