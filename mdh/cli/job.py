"""Turns a request into the values of the pipeline: program, schedule, machine, target, and plan."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from mdh.checker.run import supported
from mdh.cli.command_line import at_span, at_word
from mdh.cli.console import log
from mdh.cli.files import read_program, read_schedule
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.cli.values import at_define, parse_defines, parse_sets, project_machine, say_ones
from mdh.device.api import open_device
from mdh.device.faults import faults_of
from mdh.device.machines import machine_called
from mdh.device.protocols import Device
from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.consent import consented
from mdh.frontend.constant_arrays import is_constant
from mdh.frontend.constant_sizes import sizes_of_constants
from mdh.frontend.open_defines import demand_closed
from mdh.ir.kernel import Module
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine, machine_names
from mdh.pipeline import Checked
from mdh.schedule.cases import narrowed, only
from mdh.schedule.model import Schedule
from mdh.target.text import KernelText
from mdh.wording import meant

TARGETS = ("cuda", "opencl", "c")


def defines_of(request: Request) -> dict[str, str | int]:
    """The defines, with the sizes that the shapes of constants say. Raises Failed F108, C127."""
    line = request.line
    defines = parse_defines(line, request.defines)
    if not any(map(is_constant, defines.values())):
        return defines
    source = read_program(line, request.file)
    sizes = at_define(line, request.defines, lambda: sizes_of_constants(source, defines, request.function))
    return {**defines, **sizes}


def load_program(request: Request, trace: Trace, ranges: Sequence[OpenSize] = ()) -> Program:
    """The program. ranges: of the sizes of a table's case."""
    line = request.line
    source = read_program(line, request.file)
    defines = defines_of(request)
    say_ones(line, request.defines, source)
    for word in request.allow:
        at_word(line, word, partial(consented, (word,)))
    return at_define(
        line,
        request.defines,
        lambda: trace.pipeline.read(
            source, defines=defines, function=request.function, strict_fp=request.strict_fp,
            allow=request.allow, ranges=ranges,
        ),
    )  # fmt: skip


def load_timed_program(request: Request, trace: Trace) -> Program:
    """The program, for commands that time kernels. Raises Failed F211 for sizes that stay open."""
    program = load_program(request, trace)
    names = [size.name for size in program.opens]
    at_define(request.line, request.defines, lambda: demand_closed(names))
    return program


def load_schedule(request: Request, trace: Trace) -> Schedule | None:
    """The schedule with the holes that --set names bound; None if none was given. A table keeps the cases
    that take the sizes of -D."""
    line = request.line
    values = parse_sets(line, request.sets)
    if request.schedule is None:
        if request.sets:
            headline = "--set needs a schedule with holes"
            raise line.fail("F109", headline, request.sets[0], help="add --schedule S.mdh")
        return None
    source = read_schedule(line, request.schedule)
    try:
        found = trace.pipeline.schedule(source, values)
    except Failed as failed:
        raise Failed(*(_at_set(request, d) for d in failed.diagnostics)) from failed
    return at_define(line, request.defines, lambda: narrowed(found, defines_of(request)))


def _at_set(request: Request, wrong: Diagnostic) -> Diagnostic:
    """An error without a place about the value of a hole, placed at the word that gives the value."""
    for word in request.sets:
        span = request.line.span_of(word)
        if span is not None and not wrong.labels and f"`?{word.partition('=')[0]}`" in wrong.headline:
            return replace(wrong, labels=(Label(span),))
    return wrong


def choose_machine(request: Request, schedule: Schedule | None) -> Machine:
    """The machine: of --device or --machine, else of the schedule's header. Raises Failed F107 for both, F110
    for none, F101 to F105 and F120 for a program that cannot be read."""
    line = request.line
    if request.device is not None and request.machine is not None:
        hint = "--device is for the machine of a device here, --machine for another"
        raise line.fail("F107", "--device and --machine both say the machine", "--device", help=hint)
    if request.device is not None:
        spec = request.device
        return _remarked(at_word(line, spec, lambda: open_device(spec)).machine, schedule)
    if request.machine is not None:
        name = request.machine
        found = at_word(line, name, lambda: machine_called(name, request.target))
        return _remarked(_told(found, request), schedule)
    if schedule is not None and schedule.target is not None:
        name, place = schedule.target, schedule.places.get("target")
        return _told(at_span(place, lambda: machine_called(name, request.target)), request)
    if (said := project_machine()) is not None and (named := said.machine) is not None:
        return _told(at_span(said.at("machine"), lambda: machine_called(named, request.target)), request)
    # a file that is not there is the graver mistake
    read_program(line, request.file)
    names = ", ".join(machine_names())
    headline = "no machine: legality depends on it"
    in_schedule = "" if schedule is None else "; or begin the schedule with the line `target NAME`"
    raise line.fail("F110", headline, request.file, help=f"add --machine NAME: {names}{in_schedule}")


def _told(found: tuple[Machine, str | None], request: Request) -> Machine:
    """The machine, with a remark if a device's name stands for it, since several may share a name."""
    machine, spec = found
    if spec is not None and request.target is None:
        log(f"`{machine.name}` is the machine of {spec} here; --device names another")
    return machine


def _remarked(chosen: Machine, schedule: Schedule | None) -> Machine:
    """The machine, with a remark if the schedule was made for a machine that is not known here."""
    if schedule is not None and schedule.target not in (None, chosen.name, *machine_names()):
        log(f"the schedule's target `{schedule.target}` is no machine known here; {chosen.name} is used")
    return chosen


def choose_target(request: Request, machine: Machine) -> str:
    """The target: --target, else the machine's first."""
    name = request.target
    if name is None:
        return machine.targets[0]
    if name not in TARGETS:
        hint = meant(name, TARGETS, cutoff=0.4, otherwise=f"targets: {', '.join(TARGETS)}")
        raise request.line.fail("F114", f"no target `{name}`", name, help=hint)
    return at_word(request.line, name, lambda: supported(machine, name))


def with_default(
    request: Request, trace: Trace, program: Program, given: Schedule | None, machine: Machine, target: str
) -> Schedule | None:
    """The given schedule; without one, the default one of a program with open sizes, which may be a table."""
    if given is not None:
        return given
    return trace.pipeline.default_of(program, machine, target, deterministic=request.deterministic)


def make_plan(
    request: Request, trace: Trace, program: Program, schedule: Schedule | None, machine: Machine, target: str
) -> Checked:
    """Checks the given schedule. Stages that it leaves out get the default one."""
    return trace.pipeline.check(program, schedule, machine, target, deterministic=request.deterministic)


def plan_of(request: Request, trace: Trace, given: Schedule | None) -> tuple[Machine, Checked]:
    """The machine and the checked plan of one schedule. A table of one case is one schedule. Raises Failed
    S157 for other tables."""
    given, ranges = only(given)
    machine = choose_machine(request, given)
    program = load_program(request, trace, ranges)
    target = choose_target(request, machine)
    return machine, make_plan(request, trace, program, given, machine, target)


def make_kernel(trace: Trace, plan: Plan, device: Device | None = None) -> tuple[Module, KernelText]:
    """The kernels and their text. device: the one that it is for; None if it may run anywhere."""
    module = trace.pipeline.lower(plan)
    return module, trace.pipeline.emit(module, plan.program, None if device is None else faults_of(device))


def say_default(checked: Checked, output: str | None, schedule: str | None) -> None:
    """Remarks on which stages the user's schedule, the file `schedule`, leaves to the default one."""
    if not checked.derived:
        return
    if schedule is not None and not checked.given:
        log(f"`{schedule}` has no steps: the default schedule is used")
    elif checked.given and output is None:
        names = ", ".join(checked.derived)
        log(f"the schedule has no section for {names}: the default is used there; -o writes the whole")
    elif output is None:
        log("no schedule given: the default schedule is used; -o writes it as a starting point")


def schedule_words(checked: Checked) -> str:
    """The name of the schedule in the results of a command."""
    if not checked.derived:
        return "schedule"
    return f"schedule (default for {', '.join(checked.derived)})" if checked.given else "default schedule"
