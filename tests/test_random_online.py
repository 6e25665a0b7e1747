"""Random reductions in one pass: results are those of the C text, there are no races, and nothing is read
that has not been written."""

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
from tests.support.random_online import RandomOnline, online_schedule, random_online

COUNT = int(os.environ.get("MDH_RANDOM_ONLINE", "6"))
FIRST = int(os.environ.get("MDH_RANDOM_ONLINE_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> tuple[RandomOnline, Program]:
    drawn = random_online(seed)
    return drawn, read_program(Source(f"online_{seed}.c", drawn.text))


def outcome(seed: int, device: str) -> str:
    """`equal`, or the codes against the schedule."""
    drawn, program = program_of(seed)
    opened = open_device(device)
    try:
        text = online_schedule(drawn, program, opened.machine, opened.target, seed)
        plan = planned(program, parse_schedule(Source("online.mdh", text)), opened.machine, opened.target)
    except Failed as failed:
        assert all(d.code[0] in "K" for d in failed.diagnostics), (failed, drawn.text)
        return " ".join(sorted({d.code for d in failed.diagnostics}))
    found = execute(plan, opened, arguments(program, {}, seed), {})
    assert found.kind == "equal", (found, plan.text, drawn.text)
    again = parse_schedule(Source("again.mdh", plan.text))
    assert planned(program, again, opened.machine, opened.target).text == plan.text
    return found.kind


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
    (drawn, program), machine = program_of(seed), load_machine("h100")
    try:
        text = online_schedule(drawn, program, machine, "cuda", seed)
        plan = planned(program, parse_schedule(Source("online.mdh", text)), machine, "cuda")
    except Failed:
        return
    assert cubin_of(emit(lower(plan), program), "sm_90")


def test_many_are_legal() -> None:
    """The plans alone, for a CPU."""
    machine, seen = load_machine("generic-cpu"), Counter[str]()
    for seed in range(12):
        drawn, program = program_of(seed)
        try:
            text = online_schedule(drawn, program, machine, "c", seed)
            planned(program, parse_schedule(Source("online.mdh", text)), machine, "c")
        except Failed as failed:
            seen.update({d.code for d in failed.diagnostics})
            continue
        seen["legal"] += 1
    assert seen["legal"] >= 4
