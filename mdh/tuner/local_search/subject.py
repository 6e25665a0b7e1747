"""What the moves need to know of a stage and of the machine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from mdh.checker.fusing import stage_in, view_of
from mdh.hardware import Engine, Layer
from mdh.ir.fusion import Group
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.model import Caret, Core, ForEntry, Mem, Section, Step, TileEntry, Unit
from mdh.tuner.space.domains import core_layers

Steps = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class SearchSubject:
    """A stage to change. extents: of its dimensions. inputs, outputs: the number of each in `buffers`, which
    has the order of a step's entries. ranks: of the buffers. layers: core layers that a dimension can be
    split over. engines: that copy."""

    extents: tuple[int, ...]
    inputs: int
    outputs: int
    buffers: tuple[str, ...]
    ranks: tuple[tuple[str, int], ...]
    layers: tuple[Layer, ...]
    engines: tuple[Engine, ...] = ()


Move = Callable[[Steps, SearchSubject, Random], Steps | None]
"""One change at a random place; None if there is no such place. The result need not be legal."""


SubjectOf = Callable[[Section], SearchSubject]
"""The subject of a section."""


class Subjects:
    """The subjects of the sections of a program's schedules. Sections that fuse dimensions have others."""

    def __init__(self, program: Program, machine: Machine, target: str) -> None:
        self.program, self.machine, self.target = program, machine, target
        self._made: dict[tuple[str | None, tuple[Group, ...]], SearchSubject] = {}

    def of(self, section: Section) -> SearchSubject:
        """Raises Failed K116."""
        key = (section.name, section.groups)
        if key not in self._made:
            whole = stage_in(self.program, section.name)
            view = view_of(self.program, whole, section)
            self._made[key] = subject_of(view, stage_in(view, whole.name), self.machine, self.target)
        return self._made[key]


def subject_of(program: Program, stage: Stage, machine: Machine, target: str) -> SearchSubject:
    inputs, outputs = program.inputs(stage), program.outputs(stage)
    buffers = (*inputs, *outputs)
    ranks = tuple((name, len(program.buffer_of[name].shape)) for name in buffers)
    extents = tuple(d.extent for d in stage.dims)
    engines = tuple(map(Engine, LANGUAGES[target].seen(machine).copy_engines))
    layers = core_layers(machine, target)
    return SearchSubject(extents, len(inputs), len(outputs), buffers, ranks, layers, engines)


def tile_before(steps: Steps, at: int, dim: int, subject: SearchSubject) -> int:
    """The tile of a dimension before step `at` splits it."""
    sizes = (step.tiles[dim].value for step in reversed(steps[:at]))
    return next((size for size in sizes if isinstance(size, int)), subject.extents[dim])


def tile_after(steps: Steps, at: int, dim: int) -> int:
    """The next smaller tile of a dimension from step `at` on; 1 if there is none."""
    sizes = (step.tiles[dim].value for step in steps[at:])
    return next((size for size in sizes if isinstance(size, int)), 1)


def atom_axes(steps: Steps) -> dict[int, tuple[str, int]]:
    """The dimensions that atoms of an MMA step take, with the axis and the elements along it; empty without
    such a step."""
    last = steps[-1] if steps else None
    if last is None:
        return {}
    pairs = enumerate(zip(last.cores, last.tiles, strict=True))
    return {
        d: (core.value.axis, tile.value) for d, (core, tile) in pairs
        if isinstance(core.value, Unit) and core.value.layer is Layer.MMA and isinstance(tile.value, int)
    }  # fmt: skip


def put(steps: Steps, at: int, step: Step) -> Steps:
    """`steps` with `step` in place of the one at `at`."""
    return (*steps[:at], step, *steps[at + 1 :])


def entries_of(step: Step) -> tuple[Mem, ...]:
    """The memory entries of a step: inputs, then outputs."""
    return (*step.inputs, *step.outputs)


def with_entry(steps: Steps, at: int, n: int, entry: Mem) -> Steps:
    """`steps` with entry `n` (as in `entries_of`) of step `at` replaced."""
    step = steps[at]
    entries, inputs = (*entries_of(step)[:n], entry, *entries_of(step)[n + 1 :]), len(step.inputs)
    return put(steps, at, replace(step, inputs=entries[:inputs], outputs=entries[inputs:]))


def alone(subject: SearchSubject, dim: int, tile: int, who: Unit | ForEntry) -> Step:
    """A step that splits one dimension and keeps everything else."""
    tiles = [TileEntry(Caret()) for _ in subject.extents]
    cores = [Core(Caret()) for _ in subject.extents]
    tiles[dim], cores[dim] = TileEntry(tile), Core(who)
    inputs = tuple(Mem(Caret()) for _ in range(subject.inputs))
    outputs = tuple(Mem(Caret()) for _ in range(subject.outputs))
    return Step(None, tuple(tiles), inputs, outputs, tuple(cores))


def next_loop(step: Step) -> Core:
    """A loop inside the existing loops of the step."""
    return Core(
        ForEntry(1 + max((c.value.number for c in step.cores if isinstance(c.value, ForEntry)), default=0))
    )
