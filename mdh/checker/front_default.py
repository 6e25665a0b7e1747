"""Which loops run as wavefronts in default schedules, and the steps of the stages in them."""

from collections.abc import Collection, Iterator

from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.checker.wavefronts import Skewed, alone_in_front, is_skewed, plan_of, turned
from mdh.ir.program import Program, Stage
from mdh.ir.wavefronts import FrontPlan, in_rows
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.poly.wavefronts import wavefronts
from mdh.schedule.default import default_section
from mdh.schedule.default.wavefronts import front_section, in_loops
from mdh.schedule.holes import section_holes
from mdh.schedule.model import Schedule, Section


def fronts_in_default(
    program: Program, machine: Machine, target: str, given: Schedule | None,
    shared: Collection[str | None], *, deterministic: bool = False,
) -> tuple[tuple[Section, ...], dict[str | None, Section]]:  # fmt: skip
    """The sections of wavefronts that a default schedule has, and those of the stages in these and in ones of
    `given`. program: of the stages that have kernels. shared: stages in loops that units share anyway."""
    wanted = {} if given is None else {str(s.name): s for s in given.loops if is_skewed(s)}
    if not program.loops or program.opens or not (wanted or _small(program)):
        return (), {}
    names = set() if given is None else {s.name for s in given.sections if not s.derived}
    sections: list[Section] = []
    inside: dict[str | None, Section] = {}
    for w in wavefronts(program):
        section, own = wanted.get(w.name), False
        if section is None and None not in names:
            rows, (front,) = in_rows(program, [w])
            section, own = front_section(rows, front, machine), True
        if section is None or section_holes(section):
            continue
        plan = plan_of(program, w, section, LANGUAGES[target].seen(machine))
        if not isinstance(plan, FrontPlan):
            # the checker says so
            continue
        stages = program.stages[w.first : w.last + 1]
        if own and any(s.name in names or s.name in shared for s in stages):
            continue
        found = _steps(program, plan, section, machine, target, deterministic=deterministic)
        if own and len(found) < len(stages):
            continue
        sections += [section] if own else []
        inside |= found
    return tuple(sections), inside


def _small(program: Program) -> bool:
    """Whether some stage in turns is a single point."""
    points = (all(d.extent == 1 for d in s.dims) for s in program.stages)
    return any(p and any(x.first <= n <= x.last for x in program.loops) for n, p in enumerate(points))


def _steps(
    program: Program, plan: FrontPlan, section: Section, machine: Machine, target: str, *,
    deterministic: bool,
) -> dict[str | None, Section]:  # fmt: skip
    """The steps of each stage that one unit can run."""
    names = tuple(s.name for s in program.stages[plan.first : plan.last + 1])
    rows, (x,) = turned(program, [Skewed(plan, section, names)])
    out: dict[str | None, Section] = {}
    seen = LANGUAGES[target].seen(machine)
    for stage in rows.stages[plan.first : plan.last + 1]:
        for tried in _tried(rows, stage, machine, target, deterministic=deterministic):
            draft = Draft(rows, stage, tried.steps, seen, target, deterministic)
            found, _ = check_stage(draft, tried)
            if found is not None and not any(alone_in_front([x], found, seen)):
                out[stage.name] = tried
                break
    return out


def _tried(
    program: Program, stage: Stage, machine: Machine, target: str, *, deterministic: bool
) -> Iterator[Section]:
    """The best first; the last one is of loops alone."""
    derived = default_section(program, stage, machine, target, deterministic=deterministic)
    if not derived.fuses:
        yield from (derived, in_loops(derived))
    yield Section(stage.name, ())
