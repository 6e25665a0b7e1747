"""Random programs of independent stages, some of which share launches.

The results are those of the C text, there are no races, and a plan's text is a schedule for the same plan.
"""

import os
from collections import Counter
from functools import cache

import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.cubins import cubin_of
from tests.support.native import compiler
from tests.support.pairs import arguments, execute, planned
from tests.support.random_beside import beside_schedule, random_beside

COUNT = int(os.environ.get("MDH_RANDOM_BESIDE", "8"))
FIRST = int(os.environ.get("MDH_RANDOM_BESIDE_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> Program | None:
    """None if the front end refuses it, or makes a single stage of it."""
    try:
        program = read_program(Source(f"beside_{seed}.c", random_beside(seed).text))
    except Failed:
        return None
    return program if len(program.stages) > 1 else None


def outcome(seed: int, device: str) -> str:
    """`equal`, with `shared` if stages share a launch, or the codes against the schedule."""
    program = program_of(seed)
    if program is None:
        return ""
    opened = open_device(device)
    text = beside_schedule(program, opened.machine, seed)
    try:
        plan = planned(program, parse_schedule(Source("beside.mdh", text)), opened.machine, opened.target)
    except Failed as failed:
        assert all(d.code[0] == "K" for d in failed.diagnostics), (failed, text)
        return " ".join(sorted({d.code for d in failed.diagnostics}))
    found = execute(plan, opened, arguments(program, {"I": 3}, seed), {})
    assert found.kind == "equal", (found, plan.text, random_beside(seed).text)
    again = parse_schedule(Source("again.mdh", plan.text))
    assert planned(program, again, opened.machine, opened.target).text == plan.text
    return found.kind + (" shared" if plan.order else "")


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    outcome(seed, "c")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_right_on_a_gpu_without_races(seed: int) -> None:
    outcome(seed, "oclgrind")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_cuda_compiles(seed: int) -> None:
    program, machine = program_of(seed), load_machine("h100")
    if program is None:
        return
    text = beside_schedule(program, machine, seed)
    try:
        plan = planned(program, parse_schedule(Source("beside.mdh", text)), machine, "cuda")
    except Failed:
        return
    assert cubin_of(emit(lower(plan), program), "sm_90")


@pytest.mark.parametrize(("machine", "target"), [("generic-cpu", "c"), ("h100", "cuda")])
def test_many_are_legal_and_many_are_not(machine: str, target: str) -> None:
    """The plans alone."""
    on, seen = load_machine(machine), Counter[str]()
    for seed in range(30):
        program = program_of(seed)
        if program is None:
            continue
        text = beside_schedule(program, on, seed)
        try:
            plan = planned(program, parse_schedule(Source("beside.mdh", text)), on, target)
        except Failed as failed:
            seen.update({d.code for d in failed.diagnostics})
            continue
        seen["shared"] += bool(plan.order)
        seen["three"] += any(len(launch) > 2 for launch in plan.order)
        seen["moved"] += [n for launch in plan.order for n in launch] != list(range(len(plan.stages)))
    assert seen["shared"] >= 4 and seen["moved"] and seen["K127"], seen
    assert seen["three"] or seen["K128"], seen
