"""Builds a section step by step, with `^` wherever nothing changes."""

from collections.abc import Callable, Mapping, Sequence

from mdh.hardware import Layer, Space
from mdh.ir.atoms import Atom
from mdh.ir.dtype import TF32
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import (
    Arg,
    ArgCall,
    Attr,
    BufferPlace,
    Caret,
    Core,
    ForEntry,
    Fuse,
    Mem,
    Section,
    Step,
    TileEntry,
    Unit,
)


def attribute(name: str, *values: int | str | ArgCall, **named: int | str) -> Attr:
    """`@name(values…, key=value…)`."""
    args = tuple(Arg(v) for v in values) + tuple(Arg(v, key) for key, v in named.items())
    return Attr(name, args)


LOOP = ("stages", "unroll")
"""Attributes of sequential loops."""


def _loops(before: Sequence[int], after: Sequence[int], units: Mapping[int, Unit | ForEntry]) -> bool:
    """Whether some dimension is split into a sequential loop."""
    pairs = enumerate(zip(before, after, strict=True))
    return any(a != b and not isinstance(units.get(d), Unit) for d, (b, a) in pairs)


class ScheduleBuilder:
    """The steps so far. `tiles` are the current tiles, which the next step splits. estimate: seconds of the
    steps for the stage with other extents, by what chose them; None if they were not chosen by times."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.estimate: Callable[[Shape], float] | None = None
        self.tiles = list(shape.extents)
        self.steps: list[Step] = []

    def step(
        self,
        tiles: Mapping[int, int],
        units: Mapping[int, Unit | ForEntry] | None = None,
        *,
        entries: Mapping[str, Mem] | None = None,
        attrs: Sequence[Attr] = (),
        cyclic: Mapping[int, int] | None = None,
        around: bool = False,
    ) -> None:
        """Adds a step. Tiles are cut to what is left; entries and units without effect are left out.

        tiles: by dimension; absent ones keep their tile. units: who takes the parts; absent dimensions are
        loops. entries: by buffer. cyclic: elements that units of a dimension take in turn. around: slots look
        ahead in a loop around the step. A step without effect is not written.
        """
        units, entries = units or {}, entries or {}
        new = [max(1, min(tiles.get(d, t), t)) for d, t in enumerate(self.tiles)]
        if new != self.tiles or entries:
            looping = around or _loops(self.tiles, new, units)
            self._add(new, units, entries, [a for a in attrs if looping or a.name not in LOOP], cyclic or {})

    def atoms(self, axes: Mapping[int, tuple[str, int]], atom: Atom, *more: Attr) -> None:
        """Adds a step of tensor cores. axes: by dimension the axis of the atom (m, n or k) and its elements
        along it. atom: one like those of the step. more: attributes beside those that choose it."""
        units = {d: Unit(Layer.MMA, axis) for d, (axis, _) in axes.items()}
        new = [axes[d][1] if d in axes else t for d, t in enumerate(self.tiles)]
        converted = (attribute("as", TF32.name),) if atom.left == TF32 else ()
        self._add(new, units, {}, (attribute("atom", atom.word), *converted, *more), {})

    def _add(
        self,
        new: list[int],
        units: Mapping[int, Unit | ForEntry],
        entries: Mapping[str, Mem],
        attrs: Sequence[Attr],
        cyclic: Mapping[int, int],
    ) -> None:
        cells, cores = [], []
        for d, (before, after) in enumerate(zip(self.tiles, new, strict=True)):
            unit = units.get(d)
            atom = isinstance(unit, Unit) and unit.layer is Layer.MMA
            said = after != before or atom
            cells.append(TileEntry(after if said else Caret()))
            turns = (attribute("cyclic", cyclic[d]),) if d in cyclic else ()
            cores.append(Core(unit, turns) if unit is not None and said else Core(Caret()))
        caret = Mem(Caret())
        self.steps.append(
            Step(
                len(self.steps) + 1,
                tuple(cells),
                tuple(entries.get(b, caret) for b in self.shape.inputs),
                tuple(entries.get(b, caret) for b in self.shape.outputs),
                tuple(cores),
                tuple(attrs),
            )
        )
        self.tiles = new

    @property
    def on_tensor_cores(self) -> bool:
        """Whether some step so far is one of atoms."""
        units = (core.value for step in self.steps for core in step.cores)
        return any(isinstance(unit, Unit) and unit.layer is Layer.MMA for unit in units)

    def section(self, name: str) -> Section:
        """The steps as the section of a stage."""
        fuses = tuple(map(Fuse, self.shape.fused)) if self.steps else ()
        return Section(name, tuple(self.steps), fuses=fuses)


def staged(shape: Shape, buffer: str, region: Space, fastest: int | None = None, *attrs: Attr) -> Mem:
    """`buffer:region[layout]` with the buffer's position `fastest` last and the others in their order."""
    order = [p for p in range(len(shape.program.buffer_of[buffer].shape)) if p != fastest]
    if fastest is not None:
        order.append(fastest)
    return Mem(BufferPlace(buffer, region, tuple(p + 1 for p in order)), attrs)


def held(
    shape: Shape, region: Space = Space.RM, *, fastest: int | None = None, attrs: Sequence[Attr] = ()
) -> dict[str, Mem]:
    """All outputs of the stage in a region, in their natural layout, or with the position that dimension
    `fastest` moves last."""
    return {b: staged(shape, b, region, _position(shape, b, fastest), *attrs) for b in shape.outputs}


def _position(shape: Shape, output: str, dim: int | None) -> int | None:
    if dim is None:
        return None
    name = shape.stage.dims[dim].name
    index = next(w.index for w in shape.writes if w.buffer == output)
    return next((p for p, f in enumerate(index) if f is not None and name in f.names), None)


def stageable(shape: Shape, buffer: str) -> bool:
    """Whether a buffer can be copied: it has a known extent and at least one dimension."""
    found = shape.reads_of(buffer)
    return buffer in shape.inputs and bool(found) and all(a.affine and a.index for a in found)
