"""Changes of a section by which it becomes legal for open extents (K117, K118)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mdh.hardware import Layer, Space
from mdh.ir.program import DimKind, Stage
from mdh.schedule.default.grid import AXES
from mdh.schedule.model import Attr, BufferPlace, Caret, Core, Mem, Schedule, Section, Step, TileEntry, Unit

DEPTH = 256
"""Elements of a reduction that copies into the caches of a CPU cover."""
LEFT_OUT = ("stages", "unroll", "order", "persistent")
"""Attributes of steps that open extents may rule out."""


def forms(stage: Stage, extents: Sequence[int], section: Section) -> Iterator[Section]:
    """Sections for open extents that are much like one for `extents`, the closest first. stage: as the steps
    see it, with its open extents."""
    split = outermost(stage, extents, section)
    found = (section, split) if split != section else (section,)
    yield from found
    for one in found:
        whole = unshared(stage, one)
        yield from (whole, cut(stage, whole))


def outermost(stage: Stage, extents: Sequence[int], section: Section) -> Section:
    """With a split of every open dimension at the first step, into tiles of `extents`: the steps are those
    for these extents, and each block, or each turn of a loop, takes as much as they know."""
    steps = list(section.steps)
    if not steps:
        return section
    units = [c.value for s in steps for c in s.cores if isinstance(c.value, Unit)]
    taken = {unit.axis for unit in units if unit.layer is Layer.BLK}
    tiles, cores = list(steps[0].tiles), list(steps[0].cores)
    for d, dim in enumerate(stage.dims):
        if dim.open is None or isinstance(tiles[d].value, int):
            continue
        first = next((s for s in steps if isinstance(s.tiles[d].value, int)), None)
        if first is not None and _on_blocks(first.cores[d]):
            continue
        tiles[d] = TileEntry(extents[d])
        axis = next((a for a in AXES if a not in taken), None)
        if axis is not None and dim.kind is DimKind.CC:
            taken.add(axis)
            cores[d] = Core(Unit(Layer.BLK, axis))
    steps[0] = replace(steps[0], tiles=tuple(tiles), cores=tuple(cores))
    return replace(section, steps=tuple(steps))


def _on_blocks(core: Core) -> bool:
    return isinstance(core.value, Unit) and core.value.layer is Layer.BLK


def unshared(stage: Stage, section: Section) -> Section:
    """With no open reduction shared by blocks: each makes the whole of its results."""
    if section.fuses:
        return section
    opened = {d for d, dim in enumerate(stage.dims) if dim.open is not None and dim.kind is DimKind.PW}
    steps = []
    for step in section.steps:
        shared = {
            d
            for d, core in enumerate(step.cores)
            if d in opened and isinstance(core.value, Unit) and core.value.layer is Layer.BLK
        }
        tiles = tuple(TileEntry(Caret()) if d in shared else t for d, t in enumerate(step.tiles))
        cores = tuple(Core(Caret()) if d in shared else c for d, c in enumerate(step.cores))
        outputs = step.outputs
        if shared:
            kept = (tuple(a for a in m.attrs if a.name != "combine") for m in outputs)
            outputs = tuple(replace(m, attrs=attrs) for m, attrs in zip(outputs, kept, strict=True))
        steps.append(replace(step, tiles=tiles, cores=cores, outputs=outputs))
    return replace(section, steps=tuple(steps))


def cut(stage: Stage, section: Section) -> Section:
    """With a split of every open dimension at the first step that copies into shared memory, so that no copy
    spans the dimension."""
    steps = list(section.steps)
    at = next((n for n, s in enumerate(steps) if any(_staged(m) for m in s.inputs)), None)
    if at is None or section.fuses:
        return section
    tiles = list(steps[at].tiles)
    for d, dim in enumerate(stage.dims):
        before = [s.tiles[d].value for s in steps[: at + 1]]
        if dim.open is not None and all(isinstance(t, Caret) for t in before):
            tiles[d] = TileEntry(max(1, min(DEPTH, dim.extent // 2)))
    steps[at] = replace(steps[at], tiles=tuple(tiles))
    return replace(section, steps=tuple(steps))


def _staged(entry: Mem) -> bool:
    return isinstance(entry.value, BufferPlace) and entry.value.region is Space.SM


def bare(section: Section) -> Section:
    """Without attributes of steps that open extents may rule out."""

    def kept(attrs: tuple[Attr, ...]) -> tuple[Attr, ...]:
        return tuple(a for a in attrs if a.name not in LEFT_OUT)

    return replace(section, steps=tuple(replace(s, attrs=kept(s.attrs)) for s in section.steps))


def form_of(schedule: Schedule) -> object:
    """The form of a schedule: which dimensions each step splits, over which layers, and what it copies and
    holds. Schedules of one form differ only in tile sizes and axes."""
    return tuple((s.name, s.how, s.fuses, tuple(map(_form, s.steps))) for s in schedule.sections)


def _form(step: Step) -> object:
    tiles = tuple(isinstance(t.value, int) for t in step.tiles)
    layers = tuple(c.value.layer if isinstance(c.value, Unit) else None for c in step.cores)
    return tiles, layers, tuple(m.value for m in (*step.inputs, *step.outputs))
