"""Matches the sections of a schedule to the stages of a program."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.checker.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.ir.program import Program, Stage
from mdh.machine import Machine, load_machine, machine_names
from mdh.schedule.model import Schedule, Section


def match_sections(
    program: Program, schedule: Schedule, machine: Machine, default: Schedule | None
) -> tuple[tuple[Stage, Section], ...]:
    """One section for each stage; `default` gives those that the schedule leaves out.

    Raises Failed. S150: the `program` line names another program. S151: a stage does not exist. S152: a stage
    has two sections. S153: a stage has none. S155 and F150: a `for` or `small` line names something that does
    not exist.
    """
    found = [*_other_program(program, schedule), *_wrong_headers(program, schedule, machine)]
    foreign: list[Section] = []
    named: dict[str, Section] = {}
    for section in schedule.sections:
        name = section.name
        if name is None and len(program.stages) == 1:
            name = program.stages[0].name
        if name is None or name not in {s.name for s in program.stages}:
            foreign.append(section)
        elif name in named:
            found.append(_twice(section, name))
        else:
            named[name] = section
    if foreign:
        found.append(_foreign(program, foreign))
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
    return [Diagnostic("S150", headline, at(schedule.places.get("program")), help=hint)]


def _wrong_headers(program: Program, schedule: Schedule, machine: Machine) -> Iterator[Diagnostic]:
    sizes = [*program.sizes, *dict(program.constants)]
    for header in schedule.sizes:
        if header.program in (None, program.name):
            for name in (name for name, _ in header.sizes if name not in sizes):
                headline = f"`{header.word}` gives the size `{name}`, which `{program.name}` does not have"
                hint = nearest(name, sizes) or (f"its sizes: {listed(sizes)}" if sizes else "leave it out")
                yield Diagnostic("S155", headline, at(header.places.get(name)), help=hint)
        for name in set(header.machines) - {machine.name, *machine_names()}:
            try:
                load_machine(name)
            except Failed as failed:
                yield from (
                    replace(d, labels=at(header.places.get(f"on {name}"))) for d in failed.diagnostics
                )


def _foreign(program: Program, sections: list[Section]) -> Diagnostic:
    """S151 for sections of unknown stages. It shows the stages' names and entries, ready to paste."""
    first = sections[0]
    names = [s.name for s in program.stages]
    if first.name is None:
        headline = f"steps outside of a stage, but `{program.name}` has {len(names)} stages: {listed(names)}"
    else:
        headline = f"program `{program.name}` has no stage `{first.name}`"
    labels = [label for s in sections for label in _place(s)]
    hint = nearest(first.name, names) if first.name is not None else ""
    shapes = "\n".join(f"    {_empty(program, stage)}" for stage in program.stages)
    few = f"a section for each stage, to begin from:\n{shapes}"
    return Diagnostic("S151", headline, tuple(labels), help=f"{hint} {few}" if hint else few)


def _place(section: Section) -> tuple[Label, ...]:
    if section.name is None and section.steps:
        return at(section.steps[0].span)
    return at(section.span, "no such stage")


def _empty(program: Program, stage: Stage) -> str:
    """A section in which every entry is `^`, with a comment that says what the entries stand for."""
    groups = ([d.name for d in stage.dims], program.inputs(stage), program.outputs(stage))
    dims, inputs, outputs = (", ".join("^" for _ in g) for g in groups)
    step = f"1: (de-)comp( {dims} ) ( {inputs} ; {outputs} ) ( {dims} )"
    if len(program.stages) > 1:
        step = f"stage {stage.name} {{ {step} }}"
    return f"{step}  // ( {', '.join(groups[0])} ) ( {', '.join(groups[1])} ; {', '.join(groups[2])} )"


def _twice(section: Section, name: str) -> Diagnostic:
    return Diagnostic(
        "S152", f"stage `{name}` has two sections", at(section.span, "the second"), help="keep one of them"
    )


def _missing(program: Program, named: dict[str, Section], default: Schedule | None) -> list[Diagnostic]:
    if default is not None:
        return []
    missing = [s.name for s in program.stages if s.name not in named]
    return [Diagnostic("S153", f"the schedule has no section for stage `{name}`") for name in missing]
