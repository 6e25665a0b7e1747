"""Which loops units share in default schedules, and the steps of the stages in them."""

from dataclasses import replace

from mdh.checker.parallel_loops import Shared, left_of, own_units, shared_loops
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.diagnostics import Failed
from mdh.hardware import Layer
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.poly.parallel_loops import parallel_loops
from mdh.schedule.default import default_section
from mdh.schedule.default.parallel_loops import loop_section, part_of, runs_alone
from mdh.schedule.holes import HolePlace, OpenHole, filled, section_holes
from mdh.schedule.model import Schedule, Section, Unit


def loops_in_default(
    program: Program, computed: Program, machine: Machine, target: str, given: Schedule | None, *,
    deterministic: bool = False,
) -> tuple[tuple[Section, ...], dict[str | None, Section]]:  # fmt: skip
    """The sections of loops that a default schedule has, and those of the stages in these loops and in loops
    of `given`. computed: the program without stages that are inline."""
    if not program.loops or program.opens:
        return (), {}
    sections: list[Section] = []
    inside: dict[str | None, Section] = {}
    for x, own in _shared(program, computed, machine, given):
        steps: dict[str | None, Section] = {
            s.name: found
            for s in computed.stages
            if s.name in x.loop.dim_of
            and (found := _steps(x, computed, s, machine, target, deterministic=deterministic)) is not None
        }
        if own and len(steps) < len(x.loop.stages):
            continue
        sections += [x.section] if own else []
        inside |= steps
    return tuple(sections), inside


def _shared(
    program: Program, computed: Program, machine: Machine, given: Schedule | None
) -> list[tuple[Shared, bool]]:
    """The loops that units share, and whether that is for the default schedule to say."""
    out: list[tuple[Shared, bool]] = []
    same = computed is program
    try:
        wanted = () if given is None else shared_loops(program, given, None, holes=True)
        out += [(x, False) for x in left_of(computed, wanted, same=same)]
    except Failed:
        # the checker says so
        return []
    names = set() if given is None else {s.name for s in given.sections if not s.derived} | given.sharing
    known = set() if given is None else {s.name for s in given.loops}
    for loop in parallel_loops(program):
        if loop.name in known or None in names or not names.isdisjoint(loop.stages):
            continue
        try:
            (left,) = left_of(computed, [Shared(loop, Section(loop.name, ()))], same=same)
        except Failed:
            continue
        section = loop_section(computed, left.loop, machine)
        if section is not None and section.steps:
            out.append((replace(left, section=section), True))
    return out


def _least(section: Section) -> Section:
    """The section with the least tiles that its holes may have. Loops are legal for larger ones too."""

    def fill(place: OpenHole) -> Unit | int:
        if place.place is HolePlace.CORE:
            return Unit(Layer.BLK, "x")
        return min((v for v in place.hole.values or () if isinstance(v, int)), default=1)

    return filled(section, fill)


def _steps(
    x: Shared, program: Program, stage: Stage, machine: Machine, target: str, *, deterministic: bool
) -> Section | None:
    """Steps of a stage for the iterations of one unit; None if none are legal. Where holes say how many these
    are, loops alone: vectors need to know."""
    part = part_of(x.loop, x.section, stage)
    tried = [default_section(program, part, machine, target, deterministic=deterministic)]
    if section_holes(x.section):
        x, tried = replace(x, section=_least(x.section)), []
    seen = LANGUAGES[target].seen(machine)
    for section in (*tried, Section(stage.name, ())):
        if section.fuses or not runs_alone(section):
            continue
        draft = Draft(program, stage, x.around(program, stage, section), seen, target, deterministic)
        plan, _ = check_stage(draft, section)
        if plan is not None and not any(own_units(x, plan, seen)):
            return section
    return None
