"""`mdh.compile` and `mdh.check`: the pipeline for programs in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from os import PathLike, fspath
from types import NoneType
from typing import Any

from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.options import of_type, shown
from mdh.api.texts import ReadOptions, ReadTexts, Text, read_given
from mdh.default_device import default_device
from mdh.device.api import open_device
from mdh.device.machines import machine_called
from mdh.device.protocols import Device
from mdh.diagnostics import fail
from mdh.frontend.open_defines import demand_closed
from mdh.frontend.read import free_sizes, read_heading
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.machine import Machine, machine_names
from mdh.pipeline import Hook, Pipeline, silent
from mdh.schedule.model import Schedule


def compile(
    file: Text,
    schedule: Text | None = None,
    device: str | Device | None = None,
    *,
    defines: Mapping[str, str | int | OpenSize] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    allow: Sequence[str] = (),
    libraries: bool = False,
    holes: Mapping[str, int | str] = {},
    constants: Mapping[str, Any] = {},
    patterns: Mapping[str, Any] = {},
    tune: float | str | None = None,
    hook: Hook = silent,
) -> Kernel:
    """The C function of `file` as a callable on `device`: by default the first
    GPU, else the faster of `opencl:0` and `c`.

    Without a schedule the default one is derived. `defines` binds sizes and macros as -D does; each call
    binds the integer sizes that it leaves out, and a kernel is built for each of their values. A size that
    is `mdh.open(1, 4096)` or "1..4096" stays open: each call passes the size, and one kernel serves the
    range; without a schedule a few may, each a part of it (`Kernel.table`). If the schedule is a table (`over
    M=1..64 { … }`), each call passes its sizes, and the first case that takes them serves it; a case is built
    at its first call, or by `build`. `holes` gives values to the schedule's named holes. If no size is left
    out, everything but a table is checked and built now, else at the first call with new sizes.

    `allow` names what schedules may do to numbers: `allow=("tf32",)` lets them round f32 factors. With
    `libraries`, the default schedule and `tune` may call libraries such as OpenBLAS; a schedule that names
    one always may. `hook` is called after each stage of the pipeline.
    `constants` makes constants of array parameters, `constants={"C": array}`: loops that the schedule
    unrolls over them become code without their zeros, and calls leave the arrays out. `patterns` says of
    array parameters only where they are zero: calls then give the other elements, in order.

    With `tune` (seconds, or a text such as "10s"), `mdh.tune` searches the holes of the schedule before a
    kernel is built: without a schedule the tile sizes of the default one. The result is kept in mdh's cache
    for this program, its sizes, the device and all versions, so that later processes do not tune again.

    Raises Failed, whose diagnostics say what is wrong and where, and TypeError for an option of a wrong
    Python type.
    """
    with explained():
        read = read_texts(file, schedule, ReadOptions(
            defines=defines, function=function, strict_fp=strict_fp, deterministic=deterministic, allow=allow,
            libraries=libraries, holes=holes, constants=constants, patterns=patterns, hook=hook,
        ))  # fmt: skip
        opened, tuned = _opened(device), None
        if tune is not None:
            demand_closed(read.given.opens)
            # the tuner takes longer to import than all else here
            tuned = import_module("mdh.api.autotuner").autotuner(opened, tune)
        kernel = Kernel(read, opened, hook, tuned)
        if not read.sizes:
            kernel.prepare()
    return kernel


def read_texts(file: Text, schedule: Text | None, options: ReadOptions) -> ReadTexts:
    """What `compile` knows before a device is opened."""
    given = read_given(file, schedule, options)
    heading = read_heading(given.source, defines=given.bound, function=given.function, opens=given.opens)
    said = {name: n for name, n in given.said.items() if name in heading.parameters}
    heading = replace(heading, fixed={**heading.fixed, **said})
    sizes = free_sizes(given.source, defines=given.bound, function=given.function, opens=given.opens)
    return ReadTexts(given, heading, tuple(sizes))


def check(
    file: Text,
    schedule: Text | None = None,
    machine: str | PathLike[str] | Machine | None = None,
    *,
    target: str | None = None,
    defines: Mapping[str, str | int | OpenSize] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    allow: Sequence[str] = (),
    libraries: bool = False,
    holes: Mapping[str, int | str] = {},
    constants: Mapping[str, Any] = {},
    patterns: Mapping[str, Any] = {},
    hook: Hook = silent,
) -> Plan:
    """The plan of a legal schedule for a machine; needs no device.

    `file` and `schedule` are paths or Sources. Without a schedule the default one is derived. `machine` is a
    name, a path or a Machine; by default it is the one that the schedule's header names. `target` is by
    default the machine's first one. `defines` binds sizes and macros, `holes` the schedule's named holes,
    `allow` names what it may do to numbers. `libraries`, `constants` and `patterns`: as of `mdh.compile`.

    Raises Failed with every diagnostic found, and TypeError for an option of a wrong Python type.
    """
    with explained():
        of_type("target", target, (str, NoneType), "`cuda`, `opencl` or `c`")
        given = read_given(file, schedule, ReadOptions(
            defines=defines, function=function, strict_fp=strict_fp, deterministic=deterministic, allow=allow,
            libraries=libraries, holes=holes, constants=constants, patterns=patterns, hook=hook,
        ))  # fmt: skip
        chosen = _machine(machine, given.schedule, target)
        return given.single.checked(Pipeline(hook), chosen, target or chosen.targets[0])[1]


def _opened(device: Any) -> Device:
    if device is None:
        device = _default()
    if isinstance(device, str):
        opened = _shared(device)
    elif hasattr(device, "build") and hasattr(device, "ready"):
        opened = device
    else:
        raise TypeError(f'device takes a name such as "opencl:0", or an open device, not {shown(device)}')
    opened.ready()
    return opened


@cache
def _default() -> str:
    return default_device()


@cache
def _shared(spec: str) -> Device:
    """The device with one context for all kernels and arrays of this program."""
    return open_device(spec)


def _machine(
    given: str | PathLike[str] | Machine | None, schedule: Schedule | None, target: str | None
) -> Machine:
    if isinstance(given, Machine):
        return given
    of_type("machine", given, (str, PathLike, NoneType), "a machine's name, a path or a Machine")
    name = fspath(given) if given is not None else schedule.target if schedule is not None else None
    if name is None:
        names = ", ".join(machine_names())
        raise fail("F110", "no machine: legality depends on it", help=f"give machine=NAME: {names}")
    return machine_called(name, target)[0]
