"""`mdh.compile` and `mdh.check`: the pipeline for programs in Python."""

from collections.abc import Mapping
from functools import cache
from os import PathLike, fspath

from mdh.api.kernel import Kernel, Order, explained
from mdh.device.api import Device, open_device
from mdh.diagnostics import fail
from mdh.frontend.c import free_sizes
from mdh.frontend.parameters import parameter_names
from mdh.ir.plan import Plan
from mdh.machine import Machine, load_machine, machine_names
from mdh.pipeline import Hook, Pipeline, silent
from mdh.schedule.model import Schedule
from mdh.source import Source
from mdh.textfile import C_LIMIT, SCHEDULE_LIMIT, read_text

Text = str | PathLike[str] | Source
"""A path, or a text itself as a Source."""


def compile(
    file: Text,
    schedule: Text | None = None,
    device: str | Device = "opencl:0",
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    holes: Mapping[str, int | str] = {},
    hook: Hook = silent,
) -> Kernel:
    """The C function of `file` as a callable on `device`.

    Without a schedule the default one is derived. `defines` binds sizes and macros as -D does; integer sizes
    that it leaves open are bound by each call. `holes` gives values to the schedule's named holes. Where no
    size is open everything is checked and built now, else at the first call with new sizes. `hook` is called
    after each arrow. Raises Failed; its diagnostics say what and where.
    """
    with explained():
        parsed = _schedule(Pipeline(hook), schedule, holes)
        source = _source(file, C_LIMIT)
        sizes = free_sizes(source, defines=defines, function=function)
        names = parameter_names(source, defines=defines, function=function)
        opened = _opened(device) if isinstance(device, str) else device
        order = Order(source, parsed, dict(defines), function, strict_fp, deterministic)
        kernel = Kernel(order, opened, names, sizes, hook)
    if not sizes:
        kernel.specialise()
    return kernel


def check(
    file: Text,
    schedule: Text | None = None,
    machine: str | PathLike[str] | Machine | None = None,
    *,
    target: str | None = None,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    holes: Mapping[str, int | str] = {},
    hook: Hook = silent,
) -> Plan:
    """The plan of a legal schedule for a machine; needs no device.

    `machine` is a name, a path, a Machine, or by default what the schedule's header names; `target` is the
    machine's first by default. Raises Failed with every diagnostic found.
    """
    with explained():
        run = Pipeline(hook)
        parsed = _schedule(run, schedule, holes)
        chosen = _machine(machine, parsed)
        source = _source(file, C_LIMIT)
        program = run.read(source, defines=defines, function=function, strict_fp=strict_fp)
        wanted = target or chosen.targets[0]
        return run.check(program, parsed, chosen, wanted, deterministic=deterministic).plan


@cache
def _opened(spec: str) -> Device:
    """One context a device: kernels and arrays of one program share it."""
    return open_device(spec)


def _source(text: Text, limit: int) -> Source:
    return text if isinstance(text, Source) else read_text(fspath(text), limit=limit)


def _schedule(run: Pipeline, text: Text | None, holes: Mapping[str, int | str]) -> Schedule | None:
    if text is None:
        if holes:
            raise fail("F109", "holes need a schedule", help="give schedule=PATH")
        return None
    return run.schedule(_source(text, SCHEDULE_LIMIT), holes)


def _machine(given: str | PathLike[str] | Machine | None, schedule: Schedule | None) -> Machine:
    if isinstance(given, Machine):
        return given
    name = fspath(given) if given is not None else schedule.target if schedule is not None else None
    if name is None:
        names = ", ".join(machine_names())
        raise fail("F110", "no machine: legality depends on it", help=f"give machine=NAME: {names}")
    return load_machine(name)
