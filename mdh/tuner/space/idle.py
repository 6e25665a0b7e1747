"""Removes attributes that the value of a hole leaves without effect.

An attribute of a hole has an effect for some values only: `?@pad(4)` pads if the entry is staged, and has no
effect if it is `^`. The checker would refuse it there (K110).
"""

from dataclasses import replace

from mdh.checker.entries import RM_ATTRS, SM_ATTRS
from mdh.hardware import THREADED, Space
from mdh.schedule.model import Attr, BufferPlace, Core, ForEntry, Hole, Mem, Section, Step, TileEntry, Unit


def without_idle_attributes(template: Section, bound: Section) -> Section:
    """The bound section. Only entries that are holes in the template lose attributes."""
    return replace(bound, steps=tuple(map(_step, template.steps, bound.steps)))


def _step(template: Step, bound: Step) -> Step:
    inputs = tuple(map(_input, template.inputs, bound.inputs))
    step = replace(bound, inputs=inputs, cores=tuple(map(_core, template.cores, bound.cores)))
    open_inputs = any(isinstance(m.value, Hole) or _open_region(m) for m in template.inputs)
    open_loops = any(isinstance(t.value, Hole) for t in template.tiles)
    open_loops = open_loops or any(isinstance(c.value, Hole) for c in template.cores)
    idle: set[str] = set()
    if open_inputs and not any(_staged(m) for m in inputs):
        idle.add("stages")
    if open_loops and not any(map(_loops, step.tiles, step.cores)):
        idle |= {"stages", "unroll"}
    return replace(step, attrs=tuple(a for a in step.attrs if a.name not in idle))


def _input(template: Mem, bound: Mem) -> Mem:
    if not isinstance(template.value, Hole) and not _open_region(template):
        return bound
    place = bound.value
    if not isinstance(place, BufferPlace) or place.region not in (Space.SM, Space.RM):
        return replace(bound, attrs=())
    kept = SM_ATTRS if place.region == Space.SM else RM_ATTRS
    return replace(bound, attrs=_among(bound.attrs, kept))


def _core(template: Core, bound: Core) -> Core:
    dealt = isinstance(bound.value, Unit) and bound.value.layer in THREADED
    if not isinstance(template.value, Hole) or dealt:
        return bound
    return replace(bound, attrs=_among(bound.attrs, ()))


def _open_region(mem: Mem) -> bool:
    return isinstance(mem.value, BufferPlace) and isinstance(mem.value.region, Hole)


def _staged(mem: Mem) -> bool:
    return isinstance(mem.value, BufferPlace) and mem.value.region in (Space.SM, Space.RM)


def _loops(tile: TileEntry, core: Core) -> bool:
    """Whether this is a sequential loop, even of one part."""
    return isinstance(tile.value, int) and (
        isinstance(core.value, ForEntry) or not isinstance(core.value, Unit)
    )


def _among(attrs: tuple[Attr, ...], names: tuple[str, ...]) -> tuple[Attr, ...]:
    return tuple(a for a in attrs if a.name in names)
