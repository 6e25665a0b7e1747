"""The sections of a schedule whose steps have values to choose, each with every hole named."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mdh.checker.beside import independent
from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import staged
from mdh.checker.inner import Whole, view_for
from mdh.checker.library import choices
from mdh.checker.parallel_loops import Shared
from mdh.checker.run import check_stage
from mdh.hardware import Space
from mdh.ir.program import Dim, DimKind, Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.holes import section_holes
from mdh.schedule.model import Beside, BufferPlace, How, Library, Schedule, Section, Within
from mdh.schedule.printer import print_how
from mdh.tuner.space.places import Namer, VariablePlace

Seen = tuple[Program, Stage, Section]
"""A section, and the program and stage as it sees them: with its fused dimensions as one."""
STAGED = (Space.SM, Space.RM)


def named_sections(
    program: Program, schedule: Schedule, machine: Machine, default: Schedule | None, target: str,
    shared: Sequence[Shared], *, deterministic: bool,
) -> tuple[list[Seen], tuple[Section, ...], list[VariablePlace]]:  # fmt: skip
    """The sections of stages with steps to choose, behind the steps of loops around them, and those of loops,
    with every hole named; those of the other stages; and the places of the holes. A stage that is inline only
    by the value of a hole counts as one with a kernel. Steps of a stage inside of another one, if they have
    no holes, are legal or not with the other one's."""
    seen_as = LANGUAGES[target].seen(machine)
    whole = staged(program, schedule, machine, default)
    openings: list[VariablePlace] = []
    sections: list[Seen] = []
    taken: set[str] = set()
    several = len(program.stages) > 1
    boxes = Whole(whole.program, {s.name: x for s, x in whole.kernels}, seen_as, check_stage)
    apart: set[str] = set()
    known = choices(whole.program, target, deterministic=deterministic)
    calls = {name: (print_how(Library(found.library)),) for name, found in known.items()}
    loops: list[Seen] = []
    around: dict[str, Shared] = {}
    for x in shared:
        namer = Namer(program, _as_stage(x), f"loop {x.loop.name}.", taken)
        loops.append((program, namer.stage, namer.section(x.section)))
        openings.extend(namer.openings)
        around |= dict.fromkeys(x.loop.stages, replace(x, section=loops[-1][-1]))
    for stage, section in whole.kernels:
        prefix = f"{stage.name}." if several else ""
        if isinstance(section.how, Library):
            apart.add(stage.name)
            continue
        if isinstance(section.how, Within):
            if not section_holes(section):
                apart.add(stage.name)
                continue
            box = view_for(boxes, stage.name, target, deterministic=deterministic)
            view, seen = box.program, box.stage
        else:
            view = view_of(whole.program, stage, section)
            seen = stage_in(view, stage.name)
        loop = around.get(stage.name)
        above = 0 if loop is None else loop.count
        ways = (*_within(stage, whole.kernels), *_beside(whole.program, stage, whole.kernels, around))
        ways = (*ways, *calls.get(stage.name, ()))
        namer = Namer(view, seen, prefix, taken, ways, above=above)
        steps = section.steps if loop is None else loop.around(view, seen, section)
        # without a name, a section has nothing but steps
        name = stage.name if several or section.how is not How.KERNEL else None
        sections.append((view, seen, replace(namer.section(replace(section, steps=steps)), name=name)))
        openings.extend(namer.openings)
    kernels = {stage.name for stage, _ in whole.kernels} - apart
    named = several or bool(apart)
    inline = tuple(s for s in whole.sections if named and s.name not in kernels)
    return [*sections, *loops], inline, openings


def own_sections(sections: Sequence[Seen], shared: Sequence[Shared]) -> Iterator[Section]:
    """The sections of stages, without the steps of loops around them."""
    around = {name: x for x in shared for name in x.loop.stages}
    for _, stage, section in sections:
        if not section.counters:
            loop = around.get(stage.name)
            yield section if loop is None else replace(section, steps=loop.own(section.steps))


def _as_stage(x: Shared) -> Stage:
    """A loop as a stage of that dimension alone, so that its tiles are chosen like those of stages."""
    dim = Dim(x.loop.counter, x.loop.extent, DimKind.CC, span=x.loop.span)
    return Stage(f"loop {x.loop.name}", (dim,), (), (), x.loop.span)


def _within(stage: Stage, kernels: Sequence[tuple[Stage, Section]]) -> tuple[str, ...]:
    """The steps of other stages that stage all that a stage writes, as ways to compute it."""
    out = []
    for reader, section in kernels:
        for n, step in enumerate(section.steps):
            places = (m.value for m in step.inputs)
            staged_here = {p.buffer for p in places if isinstance(p, BufferPlace) and p.region in STAGED}
            if reader.name != stage.name and stage.written <= staged_here:
                label = n + 1 if step.label is None else step.label
                out.append(print_how(Within(reader.name, label)))
    return tuple(out)


def _beside(
    program: Program, stage: Stage, kernels: Sequence[tuple[Stage, Section]], shared: Iterable[str]
) -> Iterator[str]:
    """The stages in front whose launch a stage may share, in words. shared: stages of loops whose iterations
    units share. Stages in front that may be inside of others themselves are left out: their hole may put them
    there."""
    for other, section in kernels:
        if other is stage:
            return
        own = section.how is How.KERNEL and not section.derived
        if own and not {stage.name, other.name} & {*shared} and independent(program, other, stage):
            yield print_how(Beside(other.name))
