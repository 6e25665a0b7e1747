"""Judges built candidates: on every set of inputs before timing, and on what the timed runs left after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdh.device.protocols import BoundCall, Device, Executable
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.tuner.measure.inputs import InputSet, read_set
from mdh.tuner.measure.memory import Held
from mdh.verify.verdict import judge


@dataclass(frozen=True)
class Trusted:
    """A candidate that was right so far, bound to the arrays of its last set."""

    built: Executable
    call: BoundCall
    held: Held
    inputs: InputSet


class Judge:
    """Holds the input sets of a program. The expected results are in `folder`."""

    def __init__(self, program: Program, device: Device, seed: int, folder: Path) -> None:
        self.program, self.device, self.seed, self.folder = program, device, seed, folder
        self._sets: dict[int, InputSet] = {}

    def trust(self, built: Executable, sets: int) -> Trusted:
        """Runs the candidate once on each set. Raises Failed N1xx, and what the launch raises."""
        trusted = None
        for number in range(max(1, sets)):
            inputs = self._set(number)
            held = Held(self.device, inputs.before)
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
            g.intact and (name in inputs.want or g.array.tobytes() == inputs.before[name].tobytes())
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
        inputs = trusted.inputs
        found = judge(self.program, inputs.before, trusted.held.guarded, inputs.want)
        if found:
            raise Failed(*found)

    def _set(self, number: int) -> InputSet:
        if number not in self._sets:
            self._sets[number] = read_set(self.program, self.seed, number, self.folder)
        return self._sets[number]
