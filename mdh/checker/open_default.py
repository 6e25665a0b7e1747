"""Default schedules of programs with open sizes.

Those for fixed sizes do not know the rules for open extents. They are derived for the largest sizes, and for
larger ones, at which every dimension is split. The first that the rules accept is taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import with_inline
from mdh.checker.loop_default import loops_in_default
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.diagnostics import Failed
from mdh.frontend.open_program import closed
from mdh.hardware import Layer, Space
from mdh.ir.inlining import InliningError
from mdh.ir.program import DimKind, Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.poly.inlining import Inlined, inlined
from mdh.schedule.default import default_schedule, default_section
from mdh.schedule.default.inlining import free_maps
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.simplest import simplest
from mdh.schedule.model import (
    Attr,
    BufferPlace,
    Caret,
    Core,
    How,
    Mem,
    Schedule,
    Section,
    TileEntry,
    Unit,
)

LARGE = 4096
"""An extent that default schedules split."""
DEPTH = 256
"""Elements of a reduction that copies into the caches of a CPU cover."""
LEFT_OUT = ("stages", "unroll", "order", "persistent")
"""Attributes of steps that open extents may rule out."""


def default_for(
    program: Program, machine: Machine, target: str, *, deterministic: bool = False,
    given: Schedule | None = None,
) -> Schedule:  # fmt: skip
    """The default schedule of any program: that for its sizes, or one that leaves them open.

    given: the user's schedule. Stages that it has no steps for have a default section; those that it makes
    inline are so here too. Raises Failed as `with_inline` does.
    """
    known = {} if given is None else {s.name: s for s in given.sections if s.name is not None}
    found = _inlined(program, known)
    names = {one.name for one in found.stages}
    kernels = _kernels(found.program, machine, target, deterministic=deterministic)
    loops, inside = loops_in_default(
        program, found.program, machine, target, given, deterministic=deterministic
    )
    by_name = {section.name: section for section in kernels} | inside
    sections = (
        replace(by_name.get(s.name, Section(s.name, (), derived=True)), how=How.INLINE)
        if s.name in names
        else by_name[s.name]
        for s in program.stages
    )
    return Schedule(tuple(sections), target=machine.name, program=program.name, loops=loops)


def _inlined(program: Program, known: Mapping[str, Section]) -> Inlined:
    """The program with the stages that the user makes inline, and with maps that are free. Steps of the user
    say what their stage reads, so the maps that it reads stay as they are."""
    wanted = with_inline(program, known)
    steps = {name for name, section in known.items() if not section.derived}
    read = {buffer for s in program.stages if s.name in steps for buffer in s.read}
    among = {s.name for s in program.stages if s.name not in known and not s.written & read}
    free = free_maps(wanted.program, among) if len(program.stages) > 1 else ()
    if not free:
        return wanted
    try:
        return inlined(program, {*free, *(one.name for one in wanted.stages)})
    except InliningError:
        return wanted


def _kernels(program: Program, machine: Machine, target: str, *, deterministic: bool) -> tuple[Section, ...]:
    """A section with steps for each stage."""
    if not program.opens:
        return default_schedule(program, machine, target, deterministic=deterministic).sections
    large = closed(program, {s.name: max(s.most, LARGE * s.multiple) for s in program.opens})
    sections = []
    for stage, at_large in zip(program.stages, large.stages, strict=True):
        tried = _sections(program, stage, large, at_large, machine, target, deterministic=deterministic)
        chosen = next((s for s in tried if _legal(program, stage, s, machine, target, deterministic)), None)
        sections.append(chosen or _simplest(program, stage, machine))
    return tuple(sections)


def _sections(
    program: Program, stage: Stage, large: Program, at_large: Stage, machine: Machine, target: str, *,
    deterministic: bool,
) -> Iterator[Section]:  # fmt: skip
    """The best first."""
    for seen in (machine, replace(machine, arch="")):
        derived = [
            default_section(p, s, seen, target, deterministic=deterministic)
            for p, s in ((program, stage), (large, at_large))
        ]
        for section in derived:
            whole = _unshared(stage, section)
            yield from (section, whole, _cut(stage, whole))
        yield from map(_bare, derived)
    yield _simplest(program, stage, machine)


def _simplest(program: Program, stage: Stage, machine: Machine) -> Section:
    return simplest(Shape(program, stage), machine).section(stage.name)


def _unshared(stage: Stage, section: Section) -> Section:
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


def _cut(stage: Stage, section: Section) -> Section:
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


def _bare(section: Section) -> Section:
    """Without attributes of steps that open extents may rule out."""

    def kept(attrs: tuple[Attr, ...]) -> tuple[Attr, ...]:
        return tuple(a for a in attrs if a.name not in LEFT_OUT)

    return replace(section, steps=tuple(replace(s, attrs=kept(s.attrs)) for s in section.steps))


def _legal(
    program: Program, stage: Stage, section: Section, machine: Machine, target: str, deterministic: bool
) -> bool:
    try:
        view = view_of(program, stage, section)
    except Failed:
        return False
    seen = LANGUAGES[target].seen(machine)
    draft = Draft(view, stage_in(view, stage.name), section.steps, seen, target, deterministic)
    return check_stage(draft, section)[0] is not None
