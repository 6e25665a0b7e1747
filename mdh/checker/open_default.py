"""Default schedules of programs with open sizes.

Those for fixed sizes do not know the rules for open extents. They are derived for the largest sizes, and for
larger ones, at which every dimension is split. The first that the rules accept is taken.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import with_inline
from mdh.checker.library import hosts_of, with_calls
from mdh.checker.loop_default import loops_in_default
from mdh.checker.open_steps import bare, forms, outermost, unshared
from mdh.checker.row_default import with_rows
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.diagnostics import Failed
from mdh.frontend.open_program import closed
from mdh.ir.inlining import InliningError
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.poly.inlining import Inlined, inlined
from mdh.schedule.default import default_outline, default_schedule, default_section
from mdh.schedule.default.inlining import free_maps
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.simplest import simplest
from mdh.schedule.model import How, Schedule, Section
from mdh.schedule.printer import may_call

Estimate = Callable[[Shape], float]
"""Seconds of a kernel for other extents."""
LARGE = 4096
"""An extent that default schedules split."""


def default_for(
    program: Program, machine: Machine, target: str, *, deterministic: bool = False,
    given: Schedule | None = None,
) -> Schedule:  # fmt: skip
    """The default schedule of any program: that for its sizes, or one that leaves them open.

    given: the user's schedule. Stages that it has no steps for have a default section; those that it makes
    inline are so here too. Raises Failed as `with_inline` does.
    """
    known = {} if given is None else {s.name: s for s in given.sections if s.name is not None}
    sharing = frozenset[str | None]() if given is None else given.sharing
    found = with_free_maps(program, known, sharing)
    kernels = _kernels(found.program, machine, target, deterministic=deterministic)
    loops, inside = loops_in_default(
        program, found.program, machine, target, given, deterministic=deterministic
    )
    by_name = {s.name: s for s in (*kernels, *inside.values()) if s.name is not None}
    free = by_name.keys() - known.keys() - {one.name for one in found.stages} - inside.keys() - sharing
    by_name = with_rows(found.program, by_name, free, machine, target, deterministic=deterministic)
    if given is None or not given.loops:
        # a loop whose iterations units share is one kernel
        hosts = hosts_of([*known.values(), *by_name.values()])
        by_name = with_calls(found.program, by_name, free - hosts, target, deterministic=deterministic)
    return replace(_schedule(program, machine, found, by_name.values()), loops=loops)


@dataclass(frozen=True)
class Near:
    """Default schedules for values of the open sizes. fixed: for these alone. opened: in a form that leaves
    the sizes open; None if no such form is legal. estimates: by kernel, of what chose the steps; empty if
    some kernel has none. same: whether they hold for `opened`, too."""

    fixed: Schedule
    opened: Schedule | None
    estimates: tuple[Estimate, ...]
    same: bool = False


def default_near(
    program: Program, found: Inlined, sizes: Mapping[str, int], machine: Machine, target: str, *,
    deterministic: bool = False,
) -> Near:  # fmt: skip
    """found: the program with its free maps inline."""
    there = closed(found.program, sizes)
    outlines = [default_outline(there, s, machine, target, deterministic=deterministic) for s in there.stages]
    chosen = [o.section(s.name) for o, s in zip(outlines, there.stages, strict=True)]
    fixed = _schedule(program, machine, found, chosen)
    estimates = tuple(o.estimate for o in outlines if o.estimate is not None)
    estimates = estimates if len(estimates) == len(outlines) else ()
    opened, same = [], True
    for stage, section in zip(found.program.stages, chosen, strict=True):
        tried = _near(found.program, stage, there, section, machine, target, deterministic=deterministic)
        form = first_legal(found.program, stage, tried, machine, target, deterministic=deterministic)
        if form is None:
            return Near(fixed, None, estimates)
        opened.append(form)
        same = same and form in closest_of(found.program, stage, there, section)
    return Near(fixed, _schedule(program, machine, found, opened), estimates, same)


def _near(
    program: Program, stage: Stage, there: Program, section: Section, machine: Machine, target: str, *,
    deterministic: bool,
) -> Iterator[Section]:  # fmt: skip
    """Forms of a section that was derived for the program `there`, the best first."""
    tried = tuple(forms_of(program, stage, there, section))
    yield from (*tried, *map(bare, tried))
    if machine.arch:
        # without the instructions that open extents rule out
        plain = replace(machine, arch="")
        mine = stage_in(there, stage.name)
        other = default_section(there, mine, plain, target, deterministic=deterministic)
        yield from forms_of(program, stage, there, other)


def _schedule(program: Program, machine: Machine, found: Inlined, kernels: Iterable[Section]) -> Schedule:
    """The schedule of all stages. kernels: the sections of those that are not inline."""
    names = {one.name for one in found.stages}
    by_name = {section.name: section for section in kernels}
    sections = (
        replace(by_name.get(s.name, Section(s.name, (), derived=True)), how=How.INLINE)
        if s.name in names
        else by_name[s.name]
        for s in program.stages
    )
    return Schedule(tuple(sections), target=machine.name, program=program.name)


def with_free_maps(
    program: Program, known: Mapping[str, Section] = {}, sharing: Collection[str | None] = ()
) -> Inlined:
    """The program with the stages that the user makes inline, and with maps that are free. Steps of the user
    say what their stage reads, and a library reads arrays, so the maps that they read stay as they are.
    sharing: stages that have kernels."""
    wanted = with_inline(program, known)
    steps = {name for name, section in known.items() if not section.derived or may_call(section.how)}
    read = {buffer for s in program.stages if s.name in steps for buffer in s.read}
    among = {s.name for s in program.stages if s.name not in known and not s.written & read} - {*sharing}
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
    for stage in program.stages:
        tried = _sections(stage, (program, large), machine, target, deterministic=deterministic)
        chosen = first_legal(program, stage, tried, machine, target, deterministic=deterministic)
        sections.append(chosen or _simplest(program, stage, machine))
    return tuple(sections)


def _sections(
    stage: Stage, at: Sequence[Program], machine: Machine, target: str, *, deterministic: bool
) -> Iterator[Section]:
    """The best first. at: programs whose default sections are tried."""
    for seen in (machine, replace(machine, arch="")):
        derived = [
            (p, default_section(p, stage_in(p, stage.name), seen, target, deterministic=deterministic))
            for p in at
        ]
        for p, section in derived:
            yield from forms_of(at[0], stage, p, section)
        yield from (bare(section) for _, section in derived)
    yield _simplest(at[0], stage, machine)


def forms_of(program: Program, stage: Stage, at: Program, section: Section) -> Iterator[Section]:
    """The section of a stage in forms for open extents. at: the program that it was derived for."""
    seen = _seen(program, stage, at, section)
    if seen is not None:
        yield from forms(*seen, section)


def closest_of(program: Program, stage: Stage, at: Program, section: Section) -> tuple[Section, ...]:
    """Those of the forms in which units do what they do for fixed extents."""
    seen = _seen(program, stage, at, section)
    if seen is None or unshared(seen[0], section) != section:
        return ()
    return section, outermost(*seen, section)


def _seen(
    program: Program, stage: Stage, at: Program, section: Section
) -> tuple[Stage, tuple[int, ...]] | None:
    """The stage as the section sees it, and its extents in the other program."""
    try:
        seen = stage_in(view_of(program, stage, section), stage.name)
        there = stage_in(view_of(at, stage_in(at, stage.name), section), stage.name)
    except Failed:
        return None
    return seen, tuple(d.extent for d in there.dims)


def _simplest(program: Program, stage: Stage, machine: Machine) -> Section:
    return simplest(Shape(program, stage), machine).section(stage.name)


def first_legal(
    program: Program, stage: Stage, sections: Iterable[Section], machine: Machine, target: str, *,
    deterministic: bool,
) -> Section | None:  # fmt: skip
    return next((s for s in sections if _legal(program, stage, s, machine, target, deterministic)), None)


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
