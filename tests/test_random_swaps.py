"""Random time steps with copies: the results are those of the C text, whether turns swap arrays or not."""

import os
from collections import Counter
from functools import cache

import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.ir.swaps import swaps_of
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.cubins import cubin_of
from tests.support.native import compiler
from tests.support.pairs import arguments, execute, planned
from tests.support.random_swaps import random_swaps

COUNT = int(os.environ.get("MDH_RANDOM_SWAPS", "8"))
FIRST = int(os.environ.get("MDH_RANDOM_SWAPS_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> Program | None:
    """None if the front end refuses it."""
    try:
        return read_program(Source(f"swaps_{seed}.c", random_swaps(seed)))
    except Failed:
        return None


def outcome(seed: int, device: str) -> str:
    program = program_of(seed)
    if program is None:
        return ""
    opened = open_device(device)
    plan = planned(program, None, opened.machine, opened.target)
    found = execute(plan, opened, arguments(program, {}, seed), {})
    assert found.kind == "equal", (found, plan.text, random_swaps(seed))
    return found.kind + (" swapped" if swaps_of(plan) else "")


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    outcome(seed, "c")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 3])
def test_right_on_a_gpu_without_races(seed: int) -> None:
    outcome(seed, "oclgrind")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 3])
def test_cuda_compiles(seed: int) -> None:
    program, machine = program_of(seed), load_machine("h100")
    if program is not None:
        assert cubin_of(emit(lower(planned(program, None, machine, "cuda")), program), "sm_90")


def test_many_swap_and_many_do_not() -> None:
    """The plans alone."""
    machine, seen = load_machine("generic-cpu"), Counter[int]()
    for seed in range(24):
        program = program_of(seed)
        if program is not None and program.loops:
            seen[len(swaps_of(planned(program, None, machine, "c")))] += 1
    assert seen[0] >= 5 and seen[1] >= 5, seen
