"""Every shipped input and schedule: stated in order, right against the C compiler and on the CPU device."""

import subprocess
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.include import FOLDER
from mdh.ir.program import Program
from mdh.machine import load_machine, machine_names
from mdh.reference import evaluate_bounded
from mdh.schedule.binding import bind
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from tests.support.arrays import random_arrays
from tests.support.corpus import INPUTS, WORKLOADS, Shipped, Sizes, Use, Workload, schedules
from tests.support.native import compiler, knows, run_native
from tests.support.pairs import Drawn, default_of, difference, drawn, execute_on_each, planned

CPUS = ("opencl:0", "c")
SMALL = [(w, sizes) for w in WORKLOADS.values() for sizes in w.small]
SMALL_IDS = [f"{w.name}-{'x'.join(str(v) for _, v in sizes)}" for w, sizes in SMALL]
USES = [(s, use) for s in schedules() for use in s.uses]
CPU_USES = [(s, use) for s in schedules() if s.cpu for use in s.small]


def use_ids(uses: list[tuple[Shipped, Use]]) -> list[str]:
    return [f"{s.name}-{use.label.replace(' ', ',')}" for s, use in uses]


@cache
def program_of(name: str, sizes: Sizes) -> Program:
    return read_program(WORKLOADS[name].source, defines=dict(sizes))


@cache
def schedule_of(shipped: Shipped, use: Use) -> Schedule:
    return bind(parse_schedule(shipped.source), dict(use.sets))


def below_of(name: str, sizes: Sizes) -> dict[str, int]:
    return {array: dict(sizes)[size] for array, size in WORKLOADS[name].below.items()}


@lru_cache(maxsize=8)
def drawn_for(name: str, sizes: Sizes, seed: int, kind: str) -> Drawn:
    """Kept for the other device, whose turn is next: the reference takes longer than the kernels."""
    program = program_of(name, sizes)
    arrays = random_arrays(program, seed, kind, below_of(name, sizes))
    return drawn(program, arrays, WORKLOADS[name].scalars)


@cache
def cpu(spec: str) -> Device:
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    return open_device(spec)


def test_every_file_is_listed() -> None:
    assert {p.stem for p in INPUTS.glob("*.c")} == set(WORKLOADS)


@pytest.mark.parametrize("work", WORKLOADS.values(), ids=WORKLOADS)
def test_inputs_stand_alone(work: Workload) -> None:
    """Each file compiles by itself, has one function named like the file, and the sizes that are listed."""
    text = work.path.read_text(encoding="utf-8")
    assert f"void {work.name}(" in text
    assert text.startswith("// ") and text.count("\n// ") == 1
    found: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["#define"]:
            found[words[1]] = found[words[2]] if words[2] in found else int(words[2])
    assert tuple(found.items()) == work.full
    if compiler() is None or ("__bf16" in text and not knows("__bf16")):
        pytest.skip("no compiler here that has the types")
    # compilers that do not know `#pragma mdh` leave it out
    known = ["-Wall", "-Werror", "-Wno-unknown-pragmas", "-std=c11"]
    command = [str(compiler()), *known, f"-I{FOLDER}", "-c", str(work.path)]
    done = subprocess.run([*command, "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("work", "sizes"), SMALL, ids=SMALL_IDS)
def test_reference_agrees_with_the_c_compiler(work: Workload, sizes: Sizes, tmp_path: Path) -> None:
    if compiler() is None or ("__bf16" in work.source.text and not knows("__bf16")):
        pytest.skip("no compiler here that has the types")
    program = program_of(work.name, sizes)
    arrays = random_arrays(program, 1, "random", below_of(work.name, sizes))
    native = run_native(work.source, program, tmp_path, dict(sizes), arrays, work.scalars)
    want = evaluate_bounded(program, arrays, work.scalars)
    assert native.keys() == want.keys()
    for name, array in native.items():
        assert difference(name, array, want[name]) is None


@pytest.mark.parametrize("spec", CPUS)
@pytest.mark.parametrize(("work", "sizes"), SMALL, ids=SMALL_IDS)
def test_default_schedule_is_right(work: Workload, sizes: Sizes, spec: str) -> None:
    program, device = program_of(work.name, sizes), cpu(spec)
    plan = planned(program, None, device.machine, device.target)
    inputs = [drawn_for(work.name, sizes, 2, kind) for kind in ("exact", "random")]
    outcome = execute_on_each(plan, device, inputs, work.scalars)
    assert outcome.kind == "equal", outcome.detail


@pytest.mark.parametrize("shipped", schedules(), ids=[s.name for s in schedules()])
def test_headers_are_in_order(shipped: Shipped) -> None:
    assert shipped.uses and shipped.small
    for use in (*shipped.uses, *shipped.small):
        assert [k for k, _ in use.sizes] == [k for k, _ in WORKLOADS[use.program].full]
        assert set(use.machines) <= set(machine_names())
    assert all(use.machines for use in shipped.uses)
    assert {u.program for u in shipped.uses} == {u.program for u in shipped.small}
    schedule = parse_schedule(shipped.source)
    assert schedule.target in shipped.uses[0].machines
    assert shipped.name.split("/")[:2] == [shipped.uses[0].program, schedule.target]
    assert print_schedule(schedule) == shipped.source.text


@pytest.mark.parametrize(("shipped", "use"), USES, ids=use_ids(USES))
def test_listed_combinations_are_legal(shipped: Shipped, use: Use) -> None:
    program = program_of(use.program, use.sizes)
    for name in use.machines:
        machine = load_machine(name)
        planned(program, schedule_of(shipped, use), machine, machine.targets[0])


@pytest.mark.parametrize("spec", CPUS)
@pytest.mark.parametrize(("shipped", "use"), CPU_USES, ids=use_ids(CPU_USES))
def test_shipped_schedules_are_right(shipped: Shipped, use: Use, spec: str) -> None:
    """CPU schedules on the CPU devices; scripts/evidence runs those for GPUs, under Oclgrind."""
    program, device = program_of(use.program, use.sizes), cpu(spec)
    plan = planned(program, schedule_of(shipped, use), load_machine("generic-cpu"), device.target)
    inputs = [drawn_for(use.program, use.sizes, 3, "random")]
    outcome = execute_on_each(plan, device, inputs, WORKLOADS[use.program].scalars)
    assert outcome.kind == "equal", outcome.detail


def test_other_combinations_are_legal_or_refused_with_a_code() -> None:
    """No schedule crashes on a program that it was not written for."""
    machine = load_machine("h200")
    for shipped in schedules():
        for work in list(WORKLOADS.values())[::5]:
            program = program_of(work.name, work.small[-1])
            use = next((u for u in shipped.uses if u.sets), shipped.uses[0])
            default = default_of(program, machine, "cuda")
            try:
                check(program, schedule_of(shipped, use), machine, "cuda", default=default)
            except Failed as failed:
                assert all(d.code[0] in "SK" for d in failed.diagnostics)


def test_arrays_of_halves_are_halves() -> None:
    arrays = random_arrays(program_of("matmul_half", WORKLOADS["matmul_half"].small[0]), 0, "exact", {})
    assert {a.dtype for a in arrays.values()} == {np.dtype(np.float16)}
