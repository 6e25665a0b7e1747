"""Judges built candidates: on every set of inputs before timing, and on what the timed runs left after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mdh.device.protocols import BoundCall, Device, Executable
from mdh.diagnostics import Failed
from mdh.ir.numerics import ByStage
from mdh.ir.program import Program
from mdh.reference.numbers import Array
from mdh.tuner.measure.inputs import InputSet, read_set
from mdh.verify.arguments import Guarded, guarded
from mdh.verify.verdict import judge, same_bits


class Twin(Protocol):
    """Device memory of the size of a block of host memory."""

    def send(self) -> None: ...

    def fetch(self) -> None: ...

    @property
    def argument(self) -> Any:
        """What a call takes instead of the array."""


@runtime_checkable
class Twins(Protocol):
    """A device whose memory may be separate from the host's."""

    def twin(self, memory: Array, array: Array) -> Twin | None:
        """The device's copy of `memory`, a block of host memory that `array` is a part of. None if the device
        works in the host's memory."""


class GuardedArrays:
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


@dataclass(frozen=True)
class Trusted:
    """A candidate that was right so far, bound to the arrays of its last set."""

    built: Executable
    call: BoundCall
    held: GuardedArrays
    inputs: InputSet


class Judge:
    """Holds the input sets of a program. The expected results are in `folder`."""

    def __init__(self, program: Program, device: Device, seed: int, folder: Path) -> None:
        self.program, self.device, self.seed, self.folder = program, device, seed, folder
        self._sets: dict[tuple[int, ByStage], InputSet] = {}

    def trust(self, built: Executable, sets: int, numerics: ByStage = ()) -> Trusted:
        """Runs the candidate, which has these numerics, once on each set. Raises Failed N1xx, and what the
        launch raises."""
        trusted = None
        for number in range(max(1, sets)):
            inputs = self._set(number, numerics)
            held = GuardedArrays(self.device, inputs.before)
            call = built.call(held.arguments(), inputs.scalars)
            call.poison()
            call.launch()
            trusted = Trusted(built, call, held, inputs)
            self._right(trusted)
        assert trusted is not None
        return trusted

    def at_one_place(self, trusted: Sequence[Trusted]) -> list[BoundCall]:
        """Calls of all candidates on the arrays of the first one. The place of arrays in the caches changes
        the time of kernels that hardly compute by up to a tenth."""
        first = trusted[0]
        others = (t.built.call(first.held.arguments(), first.inputs.scalars) for t in trusted[1:])
        return [first.call, *others]

    def unharmed(self, trusted: Trusted) -> bool:
        """Whether the runs changed nothing but the results."""
        held, inputs = trusted.held, trusted.inputs
        held.fetch()
        return all(
            g.intact and (name in inputs.want or same_bits(g.array, inputs.before[name]))
            for name, g in held.guarded.items()
        )

    def still_right(self, trusted: Trusted) -> None:
        """Judges after timed runs: what they left, if that does not depend on their number, and one more run
        from the start with the same workspaces. Raises Failed N1xx."""
        call, held, inputs = trusted.call, trusted.held, trusted.inputs
        if held.in_place and inputs.private >= set(inputs.want):
            self._right(trusted)
        held.restore()
        if not held.in_place:
            call = trusted.built.call(held.arguments(), inputs.scalars)
        call.launch()
        self._right(trusted)

    def _right(self, trusted: Trusted) -> None:
        trusted.held.fetch()
        inputs, held = trusted.inputs, trusted.held.guarded
        found = judge(self.program, inputs.before, held, inputs.want, inputs.right)
        if found:
            raise Failed(*found)
        for name in inputs.want.keys() - inputs.right.keys():
            inputs.right[name] = held[name].array.copy()

    def _set(self, number: int, numerics: ByStage) -> InputSet:
        key = number, numerics
        if key not in self._sets:
            self._sets[key] = read_set(self.program, self.seed, number, self.folder, numerics)
        return self._sets[key]
