"""Runs the checker: takes a program, a schedule and a machine, and returns a plan or raises every reason
against it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mdh.checker.atoms import CODE as ATOM
from mdh.checker.beside import launches, unfit_blocks, unknown_hosts
from mdh.checker.concrete import concrete
from mdh.checker.fusing import stage_in, view_of
from mdh.checker.holes import unbound_holes
from mdh.checker.inlining import Staged, staged
from mdh.checker.inner import Whole, with_inner
from mdh.checker.inner_places import unknown_readers
from mdh.checker.library import called
from mdh.checker.loop_launch import InTurns, loops_with_launches, unfit_launches, with_launches
from mdh.checker.online import renamed
from mdh.checker.parallel_loops import (
    Shared,
    demand_kernels,
    fused_away,
    left_of,
    loop_plans,
    own_units,
    shared_loops,
)
from mdh.checker.resolve import resolve
from mdh.checker.rules import ATOM_RULES, DRAFT_RULES, PLAN_RULES, PROGRAM_RULES, SHAPE_RULES, TILE_RULES
from mdh.checker.rules.combine import choose_combines
from mdh.checker.rules.coverage import COVER, NEST
from mdh.checker.rules.mma import CODE as STEP
from mdh.checker.subject import Draft, Subject
from mdh.checker.wavefronts import (
    Skewed,
    alone_in_front,
    demand_alone,
    front_plans,
    in_turns,
    with_few_launches,
)
from mdh.decompose.tiles import with_tiles
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.inner import without
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.binding import bind
from mdh.schedule.model import How, Library, Schedule, Section, Within
from mdh.schedule.printer import print_schedule


@dataclass(frozen=True)
class _Loops:
    """What a schedule says of loops around stages: those whose iterations units share, those whose turns run
    in order, and those that run as wavefronts."""

    shared: tuple[Shared, ...]
    turned: tuple[InTurns, ...]
    fronts: tuple[Skewed, ...]

    @property
    def all(self) -> tuple[Shared | InTurns | Skewed, ...]:
        return (*self.shared, *self.turned, *self.fronts)


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
    A phase runs only if the one before found nothing, because its questions would have no answer. The steps
    of a loop are checked with each of its stages; what is wrong with them is said once.
    """
    supported(machine, target)
    schedule = settled(program, schedule)
    found = [d for rule in PROGRAM_RULES for d in rule(program)]
    seen = LANGUAGES[target].seen(machine)
    whole = staged(program, schedule, machine, default)
    shared = left_of(whole.program, shared_loops(program, schedule, default), same=not whole.inline)
    turned = loops_with_launches(program, schedule)
    found.extend(unfit_launches(program, turned, [x.loop for x in shared], target))
    by_name = {stage.name: section for stage, section in whole.kernels}
    whole, fronts = in_turns(whole, schedule, default, seen)
    found += [*unknown_readers(whole.program, by_name), *unknown_hosts(whole.program, by_name)]
    demand_kernels(shared, by_name)
    demand_alone(fronts, shared, by_name)
    loops = _Loops(shared, turned, fronts)
    plans, written, wrong = _stage_plans(whole, loops, seen, target, deterministic=deterministic)
    found += wrong
    order = () if found else launches(whole.program, by_name, shared)
    found += unfit_blocks(order, plans, by_name, seen, target)
    if found:
        raise Failed(*(d for n, d in enumerate(found) if d not in found[:n]))
    said = print_schedule(_said(program, whole, written, machine, loops))
    computed = with_launches(_without_inner(whole.program, by_name), turned)
    made = Plan(
        program, computed, seen, target, tuple(plans), said, deterministic, whole.inline,
        loops=loop_plans(computed, shared, plans), fronts=front_plans(whole.program, computed, fronts),
        order=order,
    )  # fmt: skip
    return with_few_launches(made)


def _stage_plans(
    whole: Staged, loops: _Loops, seen: Machine, target: str, *, deterministic: bool
) -> tuple[list[StagePlan], dict[str, Section], list[Diagnostic]]:
    """The plans of the stages that have kernels, their sections as they are lowered, and what is wrong."""
    plans, written, found = list[StagePlan](), dict[str, Section](), list[Diagnostic]()
    by_name = {stage.name: section for stage, section in whole.kernels}
    inside = Whole(whole.program, by_name, seen, check_stage)
    around = {name: x for x in loops.shared for name in x.loop.stages}
    for stage, section in whole.kernels:
        if isinstance(section.how, Within):
            continue
        try:
            if isinstance(section.how, Library):
                plans.append(called(whole.program, stage, section, target, deterministic=deterministic))
                continue
            mine = around.get(stage.name)
            draft = _draft(whole.program, stage, section, mine, seen, target, deterministic)
        except Failed as failed:
            found.extend(failed.diagnostics)
            continue
        plan, wrong = check_stage(draft, section)
        found += wrong
        if plan is None:
            continue
        found += [*own_units(mine, plan, seen), *alone_in_front(loops.fronts, plan, seen)]
        plan, wrong = with_inner(plan, draft, inside, written)
        found += wrong
        plans.append(plan)
        written[stage.name] = _written(section, draft, mine, named=len(whole.sections) > 1)
    return plans, written, found


def _without_inner(program: Program, sections: Mapping[str, Section]) -> Program:
    """The program without the stages that others compute."""
    return without(program, {name for name, s in sections.items() if isinstance(s.how, Within)})


def _said(
    program: Program, whole: Staged, written: Mapping[str, Section], machine: Machine,
    loops: _Loops,
) -> Schedule:  # fmt: skip
    """The schedule as it is lowered, with the C's names of arrays. written: the sections that have steps."""
    every = tuple(
        written.get(stage.name, Section(stage.name, (), how=s.how, attrs=s.attrs, derived=True))
        for stage, s in zip(program.stages, whole.sections, strict=True)
    )
    every = tuple(renamed(section, whole.stored) for section in every)
    return Schedule(every, machine.name, program.name, loops=tuple(x.said for x in loops.all))


def _draft(
    program: Program, stage: Stage, section: Section, around: Shared | None, machine: Machine, target: str,
    deterministic: bool,
) -> Draft:  # fmt: skip
    """The steps of a stage, behind those of the loop whose iterations units share. Raises Failed K116,
    K126."""
    view = view_of(program, stage, section)
    mine, steps = stage_in(view, stage.name), section.steps
    if around is not None:
        wrong = tuple(fused_away(around, mine, section))
        if wrong:
            raise Failed(*wrong)
        steps = around.around(view, mine, section)
    return Draft(view, mine, steps, machine, target, deterministic, section.span)


def _written(section: Section, draft: Draft, around: Shared | None, *, named: bool) -> Section:
    """The section as it is lowered."""
    name = draft.stage.name if named else None
    attrs = section.attrs if section.how is How.INLINE else ()
    kept = concrete(Section(name, draft.steps, fuses=section.fuses, how=section.how, attrs=attrs), draft)
    if around is None:
        return kept
    steps = around.own(kept.steps)
    # without steps, only its name says that the section is there
    return replace(kept, name=name if steps else draft.stage.name, steps=steps)


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
