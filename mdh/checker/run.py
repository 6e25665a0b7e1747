"""Runs the checker: takes a program, a schedule and a machine, and returns a plan or raises every reason
against it."""

from dataclasses import replace

from mdh.checker.atoms import CODE as ATOM
from mdh.checker.concrete import concrete
from mdh.checker.fusing import stage_in, view_of
from mdh.checker.holes import unbound_holes
from mdh.checker.inlining import staged
from mdh.checker.inner import Whole, with_inner
from mdh.checker.inner_places import unknown_readers
from mdh.checker.resolve import resolve
from mdh.checker.rules import ATOM_RULES, DRAFT_RULES, PLAN_RULES, PROGRAM_RULES, SHAPE_RULES, TILE_RULES
from mdh.checker.rules.combine import choose_combines
from mdh.checker.rules.coverage import COVER, NEST
from mdh.checker.rules.mma import CODE as STEP
from mdh.checker.subject import Draft, Subject
from mdh.decompose.tiles import with_tiles
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.inner import without
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.binding import bind
from mdh.schedule.model import How, Schedule, Section, Within
from mdh.schedule.printer import print_schedule


def check(
    program: Program,
    schedule: Schedule,
    machine: Machine,
    target: str,
    *,
    deterministic: bool = False,
    default: Schedule | None = None,
) -> Plan:
    """The plan of a legal schedule without holes. Raises Failed with every diagnostic found.

    `default` has the sections of stages that `schedule` leaves out. Each stage is checked in phases: holes,
    shape of the groups, each step as written, the atom of an MMA step, the resolved plan, and its tile tree.
    A phase runs only if the one before found nothing, because its questions would have no answer.
    """
    supported(machine, target)
    schedule = settled(program, schedule)
    found = [d for rule in PROGRAM_RULES for d in rule(program)]
    seen = LANGUAGES[target].seen(machine)
    plans: list[StagePlan] = []
    written: dict[str, Section] = {}
    whole = staged(program, schedule, machine, default)
    by_name = {stage.name: section for stage, section in whole.kernels}
    found.extend(unknown_readers(whole.program, by_name))
    inside = Whole(whole.program, by_name, seen, check_stage)
    for stage, section in whole.kernels:
        if isinstance(section.how, Within):
            continue
        try:
            view = view_of(whole.program, stage, section)
        except Failed as failed:
            found.extend(failed.diagnostics)
            continue
        mine = stage_in(view, stage.name)
        draft = Draft(view, mine, section.steps, seen, target, deterministic, section.span)
        plan, wrong = check_stage(draft, section)
        found.extend(wrong)
        if plan is not None:
            plan, wrong = with_inner(plan, draft, inside, written)
            found.extend(wrong)
            plans.append(plan)
            name = stage.name if len(program.stages) > 1 else None
            attrs = section.attrs if section.how is How.INLINE else ()
            kept = Section(name, section.steps, fuses=section.fuses, how=section.how, attrs=attrs)
            written[stage.name] = concrete(kept, draft)
    if found:
        raise Failed(*found)
    sections = (
        written.get(stage.name, Section(stage.name, (), how=s.how, attrs=s.attrs, derived=True))
        for stage, s in zip(program.stages, whole.sections, strict=True)
    )
    text = print_schedule(Schedule(tuple(sections), machine.name, program.name))
    inner = {name for name, section in by_name.items() if isinstance(section.how, Within)}
    computed = without(whole.program, inner)
    return Plan(program, computed, seen, target, tuple(plans), text, deterministic, whole.inline)


def supported(machine: Machine, target: str) -> str:
    """Returns `target`. Raises Failed K100 if the machine does not have it."""
    if target not in machine.targets:
        known = ", ".join(machine.targets)
        raise Failed(
            Diagnostic("K100", f"machine `{machine.name}` has no target `{target}`", help=f"targets: {known}")
        )
    return target


def settled(program: Program, schedule: Schedule) -> Schedule:
    """The schedule with its `where` conditions over constants of the program evaluated. Raises S122, S123."""
    if not any(section.wheres for section in schedule.sections):
        return schedule
    return bind(schedule, {}, {**dict(program.constants), **program.sizes})


def check_stage(draft: Draft, section: Section) -> tuple[StagePlan | None, list[Diagnostic]]:
    """The plan of one stage, or None with the diagnostics against it."""
    found = list(unbound_holes(section))
    for rules in (SHAPE_RULES, DRAFT_RULES):
        if not found:
            found = [d for rule in rules for d in rule(draft)]
    if found:
        return None, found
    plan, found = resolve(draft)
    subject = Subject(draft, plan)
    found.extend(d for rule in ATOM_RULES for d in rule(subject))
    # without its atom, an MMA step has no units, and tiles of single elements
    if {STEP, ATOM} & {d.code for d in found}:
        return None, found
    found.extend(d for rule in PLAN_RULES for d in rule(subject))
    # without full coverage of a dimension there is no tile tree
    if not {COVER, NEST} & {d.code for d in found}:
        found.extend(d for rule in TILE_RULES for d in rule(subject))
    if found:
        return None, found
    return replace(with_tiles(choose_combines(subject), subject.tiles), fused=section.groups), []
