"""Changes of a stage's steps. `change` takes the steps that split, without the one labelled 0."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from mdh.hardware import Layer, Space
from mdh.schedule.model import Arg, Attr, BufferPlace, Caret, Core, Hole, Mem, Step, TileEntry, Unit

T = TypeVar("T")
Steps = tuple[Step, ...]
Change = Callable[[Steps], Steps | None]


@dataclass(frozen=True, slots=True)
class Remedy:
    """words: what to write, for `help`. change: returns None where a hole stands in an entry that it
    replaces, because the value of the hole is the user's."""

    words: str
    change: Change

    def applied(self, steps: Steps) -> Steps | None:
        """All steps of a section with the change."""
        first = 1 if steps and steps[0].label == 0 else 0
        changed = self.change(steps[first:])
        return None if changed is None else (*steps[:first], *changed)


def tile_of(s: int, d: int, tile: int) -> Change:
    """Step s splits dimension d into tiles of this size. Outer tiles that are smaller grow to it, and inner
    ones that are larger shrink to it."""

    def change(steps: Steps) -> Steps | None:
        out = []
        for n, step in enumerate(steps):
            entry = step.tiles[d]
            if isinstance(entry.value, Hole):
                return None
            value = entry.value
            if n == s or (isinstance(value, int) and (value < tile if n < s else value > tile)):
                value = tile
            out.append(with_tile(step, d, replace(entry, value=value)))
        return tuple(out)

    return change


def core_of(s: int, d: int, layer: Layer, axis: str) -> Change:
    """Step s gives the parts of dimension d to units of a layer."""

    def change(steps: Steps) -> Steps | None:
        if isinstance(steps[s].cores[d].value, Hole):
            return None
        cores = _put(steps[s].cores, d, Core(Unit(layer, axis)))
        return _put(steps, s, replace(steps[s], cores=cores))

    return change


def both(first: Change, second: Change) -> Change:
    def change(steps: Steps) -> Steps | None:
        found = first(steps)
        return None if found is None else second(found)

    return change


def lanes_of(d: int, lanes: int) -> Change:
    """Vectors of so many elements of dimension d, by further steps below the last one."""

    def change(steps: Steps) -> Steps | None:
        if not steps or any(isinstance(step.tiles[d].value, Hole) for step in steps):
            return None
        sizes = [step.tiles[d].value for step in steps if isinstance(step.tiles[d].value, int)]
        out = steps if sizes and sizes[-1] == lanes else (*steps, _further(steps, d, lanes, None))
        return (*out, _further(out, d, 1, Unit(Layer.VEC, "x")))

    return change


def _further(steps: Steps, d: int, tile: int, unit: Unit | None) -> Step:
    """A step below the last one that splits dimension d alone."""
    last = steps[-1]
    labels = [step.label for step in steps if step.label is not None]
    tiles = _put((TileEntry(Caret()),) * len(last.tiles), d, TileEntry(tile))
    cores = (Core(Caret()),) * len(last.cores)
    cores = cores if unit is None else _put(cores, d, Core(unit))
    none = Mem(Caret())
    inputs, outputs = (none,) * len(last.inputs), (none,) * len(last.outputs)
    label = max(labels) + 1 if labels else None
    return Step(label, tiles, inputs, outputs, cores, slash=last.slash)


def attribute_of(s: int, entry: int, name: str, value: int) -> Change:
    """`@name(value)` on an input entry of step s, in place of an attribute of that name."""

    def change(steps: Steps) -> Steps | None:
        mem = steps[s].inputs[entry]
        kept = tuple(a for a in mem.attrs if a.name != name)
        if isinstance(mem.value, Hole) or (len(kept) < len(mem.attrs) and _open(mem, name)):
            return None
        inputs = _put(steps[s].inputs, entry, replace(mem, attrs=(*kept, Attr(name, (Arg(value),)))))
        return _put(steps, s, replace(steps[s], inputs=inputs))

    return change


def _open(mem: Mem, name: str) -> bool:
    return any(isinstance(arg.value, Hole) for a in mem.attrs if a.name == name for arg in a.args)


def staged_at(s: int, entry: int, buffer: str, layout: tuple[int, ...], pad: int) -> Change:
    """The input is copied into shared memory at step s, where its entry says nothing else. layout: as in the
    text."""

    def change(steps: Steps) -> Steps | None:
        mem = steps[s].inputs[entry]
        if not isinstance(mem.value, Caret):
            return None
        attrs = (Attr("pad", (Arg(pad),)),) if pad else ()
        place = Mem(BufferPlace(buffer, Space.SM, layout), attrs)
        return _put(steps, s, replace(steps[s], inputs=_put(steps[s].inputs, entry, place)))

    return change


def dealt(s: int, d: int, block: int) -> Change:
    """`@cyclic(block)` on the core entry of dimension d at step s."""

    def change(steps: Steps) -> Steps | None:
        core = steps[s].cores[d]
        if isinstance(core.value, Hole) or core.attrs:
            return None
        cores = _put(steps[s].cores, d, replace(core, attrs=(Attr("cyclic", (Arg(block),)),)))
        return _put(steps, s, replace(steps[s], cores=cores))

    return change


def axes_swapped(layer: Layer, one: str, other: str) -> Change:
    """The units of a layer along two axes change places."""
    place = {one: other, other: one}

    def swapped(core: Core) -> Core:
        unit = core.value
        if isinstance(unit, Unit) and unit.layer is layer:
            return replace(core, value=replace(unit, axis=place.get(unit.axis, unit.axis)))
        return core

    def change(steps: Steps) -> Steps | None:
        if any(isinstance(core.value, Hole) for step in steps for core in step.cores):
            return None
        return tuple(replace(step, cores=tuple(map(swapped, step.cores))) for step in steps)

    return change


def with_tile(step: Step, d: int, entry: TileEntry) -> Step:
    return replace(step, tiles=_put(step.tiles, d, entry))


def _put(entries: tuple[T, ...], n: int, entry: T) -> tuple[T, ...]:
    return (*entries[:n], entry, *entries[n + 1 :])
