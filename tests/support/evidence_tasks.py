"""What the evidence table is made of: one cell is one task, which a worker process carries out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.binding import bind
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.arrays import random_arrays
from tests.support.corpus import WORKLOADS, Shipped, Sizes, Use, schedules
from tests.support.pairs import execute, planned, rejected

ARCHES = {"sm_80": "a100", "sm_90a": "h200"}


@dataclass(frozen=True, slots=True)
class Cell:
    """column: a device's spec, or an architecture. schedule: a shipped one's name, empty for the default."""

    column: str
    schedule: str
    program: str
    sizes: Sizes
    sets: tuple[tuple[str, int | str], ...] = ()
    machine: str = ""

    @property
    def row(self) -> tuple[str, str]:
        return self.program, self.schedule


def by_name(name: str) -> Shipped:
    return next(s for s in schedules() if s.name == name)


def rows() -> Iterator[tuple[str, str]]:
    """(program, schedule) of every row: the default first, then what lists the program."""
    for work in WORKLOADS.values():
        yield work.name, ""
        for shipped in schedules():
            if any(u.program == work.name for u in shipped.uses):
                yield work.name, shipped.name


def small_cells(column: str) -> Iterator[Cell]:
    """Every row at its small sizes on a device; schedules for the other kind of machine are left out."""
    cpu = column in ("opencl:0", "c")
    for program, name in rows():
        if not name:
            for sizes in WORKLOADS[program].small:
                yield Cell(column, "", program, sizes)
            continue
        shipped = by_name(name)
        if column != "oclgrind" and shipped.cpu != cpu:
            continue
        machine = shipped.machine if shipped.cpu else ""
        for use in shipped.small:
            if use.program == program:
                yield Cell(column, name, program, use.sizes, use.sets, machine)


def full_cells(arch: str) -> Iterator[Cell]:
    """Every row at full sizes for an architecture's machine, where its header lists that machine."""
    machine = ARCHES[arch]
    for program, name in rows():
        if not name:
            yield Cell(arch, "", program, WORKLOADS[program].full, (), machine)
            continue
        for use in by_name(name).uses:
            if use.program == program and machine in use.machines:
                yield Cell(arch, name, program, use.sizes, use.sets, machine)


def plan_of(cell: Cell, machine: Machine, target: str) -> tuple[Program, Plan]:
    program = read_program(WORKLOADS[cell.program].source, defines=dict(cell.sizes))
    schedule: Schedule | None = None
    if cell.schedule:
        schedule = bind(parse_schedule(by_name(cell.schedule).source), dict(cell.sets))
    return program, planned(program, schedule, machine, target)


def run_cells(spec: str) -> Callable[[Cell], str]:
    """The task of a worker that owns one device: `right`, `refused CODES`, or what is wrong."""
    device = open_device(spec)
    return lambda cell: run_cell(cell, device)


def run_cell(cell: Cell, device: Device) -> str:
    machine = load_machine(cell.machine) if cell.machine else device.machine
    work = WORKLOADS[cell.program]
    try:
        program, plan = plan_of(cell, machine, device.target)
    except Failed as failed:
        return f"refused {rejected(failed).detail}"
    below = {array: dict(cell.sizes)[size] for array, size in work.below.items()}
    # the simulator takes its time, and what it looks for does not depend on the values
    for kind in ("random",) if device.spec == "oclgrind" else ("exact", "random"):
        arrays = random_arrays(program, 7, kind, below)  # type: ignore[arg-type]
        outcome = execute(plan, device, arrays, work.scalars)
        if outcome.kind != "equal":
            return f"{outcome.kind.upper()} {outcome.detail}"
    return "right"


def compile_cells(arch: str) -> Callable[[Cell], str]:
    """The task of a worker that compiles: `N registers`, or spills, warnings or a refusal."""

    def task(cell: Cell) -> str:
        try:
            program, plan = plan_of(cell, load_machine(cell.machine), "cuda")
        except Failed as failed:
            return f"refused {rejected(failed).detail}"
        cubin = compile_cubin(emit(lower(plan), program), arch)
        if cubin.spill_bytes:
            return f"SPILLS {cubin.spill_bytes} bytes"
        if cubin.warnings:
            return f"WARNING {cubin.warnings[0]}"
        return f"{cubin.registers} registers"

    return task


def legality(machine_name: str) -> tuple[int, dict[str, int]]:
    """Every schedule on every program that it does not list: how many are legal, and the refusals by code."""
    machine = load_machine(machine_name)
    target = machine.targets[0]
    legal, codes = 0, dict[str, int]()
    for shipped in schedules():
        use: Use = shipped.uses[0]
        for work in WORKLOADS.values():
            if work.name in {u.program for u in shipped.uses}:
                continue
            program = read_program(work.source, defines=dict(work.small[-1]))
            schedule = bind(parse_schedule(shipped.source), dict(use.sets))
            default = default_schedule(program, machine, target)
            try:
                check(program, schedule, machine, target, default=default)
                legal += 1
            except Failed as failed:
                for code in {d.code for d in failed.diagnostics}:
                    codes[code] = codes.get(code, 0) + 1
    return legal, codes
