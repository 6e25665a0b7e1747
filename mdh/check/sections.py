"""Which section of a schedule belongs to which stage of a program."""

from mdh.check.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.program import Program, Stage
from mdh.schedule.headers import at_header
from mdh.schedule.model import Schedule, Section


def match_sections(
    program: Program, schedule: Schedule, default: Schedule | None
) -> tuple[tuple[Stage, Section], ...]:
    """One section per stage; `default` gives those that the schedule leaves out.

    Raises Failed: S150 a schedule of another program (its `program` line), S151 a stage that does not exist,
    S152 a stage with two sections, S153 a stage without any.
    """
    found = [*_other_program(program, schedule)]
    named: dict[str, Section] = {}
    for section in schedule.sections:
        name = section.name
        if name is None:
            if len(program.stages) > 1:
                found.append(_nameless(program, section))
                continue
            name = program.stages[0].name
        if name not in {s.name for s in program.stages}:
            found.append(_unknown(program, section, name))
        elif name in named:
            found.append(_twice(section, name))
        else:
            named[name] = section
    if not found:
        found.extend(_missing(program, named, default))
    if found:
        raise Failed(*found)
    spare = {} if default is None else {s.name or program.stages[0].name: s for s in default.sections}
    return tuple((stage, named.get(stage.name) or spare[stage.name]) for stage in program.stages)


def _other_program(program: Program, schedule: Schedule) -> list[Diagnostic]:
    if schedule.program in (None, program.name):
        return []
    headline = f"the schedule is for program `{schedule.program}`, the C function is `{program.name}`"
    hint = "use the schedule of this program, or drop its `program` line"
    return [Diagnostic("S150", headline, at_header(schedule, "program"), help=hint)]


def _nameless(program: Program, section: Section) -> Diagnostic:
    names = [s.name for s in program.stages]
    headline = f"steps outside of a stage, but `{program.name}` has {len(names)} stages: {listed(names)}"
    first = section.steps[0].span if section.steps else section.span
    return Diagnostic("S151", headline, at(first), help=f"put them into `stage {names[0]} {{ … }}`")


def _unknown(program: Program, section: Section, name: str) -> Diagnostic:
    names = [s.name for s in program.stages]
    hint = nearest(name, names)
    stages = f"stages of `{program.name}`: {listed(names)}"
    return Diagnostic(
        "S151", f"program `{program.name}` has no stage `{name}`", at(section.span, "no such stage"),
        help=f"{hint} {stages}" if hint else stages,
    )  # fmt: skip


def _twice(section: Section, name: str) -> Diagnostic:
    return Diagnostic(
        "S152", f"stage `{name}` has two sections", at(section.span, "the second"), help="keep one of them"
    )


def _missing(program: Program, named: dict[str, Section], default: Schedule | None) -> list[Diagnostic]:
    if default is not None:
        return []
    missing = [s.name for s in program.stages if s.name not in named]
    return [Diagnostic("S153", f"the schedule has no section for stage `{name}`") for name in missing]
