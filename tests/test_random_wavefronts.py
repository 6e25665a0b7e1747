"""Random programs that run as wavefronts, by default and by random schedules.

The results are those of the C text, and a plan's text is a schedule for the same plan.
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
from tests.support.random_wavefronts import front_schedule, random_sweeps

COUNT = int(os.environ.get("MDH_RANDOM_WAVEFRONTS", "8"))
FIRST = int(os.environ.get("MDH_RANDOM_WAVEFRONTS_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> Program | None:
    """None if the front end refuses it."""
    try:
        return read_program(Source(f"sweeps_{seed}.c", random_sweeps(seed).text))
    except Failed as failed:
        assert all(d.code[0] == "C" for d in failed.diagnostics)
        return None


def outcomes(seed: int, device: str) -> list[str]:
    """Of the default schedule and of a random one: `equal`, or the codes against it."""
    program = program_of(seed)
    if program is None:
        return ["refused"]
    opened = open_device(device)
    out = []
    for text in (None, front_schedule(program, opened.machine, seed)):
        if text is None and out:
            continue
        given = None if text is None else parse_schedule(Source("sweeps.mdh", text))
        try:
            plan = planned(program, given, opened.machine, opened.target)
        except Failed as failed:
            assert given is not None and all(d.code[0] == "K" for d in failed.diagnostics), (failed, text)
            out.append(" ".join(sorted({d.code for d in failed.diagnostics})))
            continue
        found = execute(plan, opened, arguments(program, {}, seed), {})
        assert found.kind == "equal", (found, plan.text, random_sweeps(seed).text)
        again = parse_schedule(Source("again.mdh", plan.text))
        assert planned(program, again, opened.machine, opened.target).text == plan.text
        out.append(found.kind + (" fronts" if plan.fronts else ""))
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    outcomes(seed, "c")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_right_on_a_gpu_without_races(seed: int) -> None:
    outcomes(seed, "oclgrind")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_cuda_compiles(seed: int) -> None:
    program, machine = program_of(seed), load_machine("h100")
    text = None if program is None else front_schedule(program, machine, seed)
    if program is None or text is None:
        return
    try:
        plan = planned(program, parse_schedule(Source("sweeps.mdh", text)), machine, "cuda")
    except Failed:
        return
    assert cubin_of(emit(lower(plan), program), "sm_90")


def test_many_have_wavefronts() -> None:
    """The plans alone, for a CPU."""
    machine, seen = load_machine("generic-cpu"), Counter[str]()
    for seed in range(16):
        program = program_of(seed)
        if program is None:
            continue
        text = front_schedule(program, machine, seed)
        if text is None:
            continue
        seen["fronts"] += 1
        try:
            plan = planned(program, parse_schedule(Source("sweeps.mdh", text)), machine, "c")
        except Failed as failed:
            seen.update({d.code for d in failed.diagnostics})
            continue
        seen["planned"] += bool(plan.fronts)
        seen["several"] += any(len(x.fronts.rows) > 1 for x in plan.fronts)
        seen["strips"] += any(x.strips is not None for x in plan.fronts)
    assert seen["planned"] >= 8 and seen["several"] >= 1 and seen["strips"] >= 1, seen
