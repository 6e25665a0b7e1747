"""The arrays of one run: private, between guard bands, on the device where it has memory of its own."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from mdh.device.protocols import Device
from mdh.reference.numbers import Array
from mdh.verify.arguments import Guarded, guarded


class Twin(Protocol):
    """Memory of a device of the size of a block of the host's."""

    def send(self) -> None: ...

    def fetch(self) -> None: ...

    @property
    def argument(self) -> Any:
        """What a call takes in place of the array."""


@runtime_checkable
class Twins(Protocol):
    """A device that may have memory of its own."""

    def twin(self, memory: Array, array: Array) -> Twin | None:
        """None: the device works in the host's memory, of which `memory` is a block and `array` a part."""


class Held:
    """Guarded copies of `before`. On a GPU the guard bands lie in the GPU's memory too.

    in_place: each launch of a call sees what `restore` put there."""

    def __init__(self, device: Device, before: Mapping[str, Array]) -> None:
        self.before = before
        self.guarded: dict[str, Guarded] = {name: guarded(array) for name, array in before.items()}
        self.in_place = device.in_place
        self._twins: dict[str, Twin] = {}
        if isinstance(device, Twins):
            twins = {name: device.twin(g.memory, g.array) for name, g in self.guarded.items()}
            self._twins = {name: twin for name, twin in twins.items() if twin is not None}
            # calls are bound to the twins themselves
            self.in_place |= bool(self._twins)
        self._send()

    def arguments(self) -> dict[str, Any]:
        """What a call binds, by name."""
        out: dict[str, Any] = {name: g.array for name, g in self.guarded.items()}
        out.update((name, twin.argument) for name, twin in self._twins.items())
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
