"""Random programs whose stages work on the same rows, by default: most are one kernel, and all are right."""

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
from mdh.source import Source
from mdh.target.emit import emit
from tests.atoms.warps import run
from tests.support.cubins import cubin_of
from tests.support.native import compiler
from tests.support.pairs import arguments, drawn, execute, judged, planned
from tests.support.random_rows import random_rows

COUNT = int(os.environ.get("MDH_RANDOM_ROWS", "12"))
FIRST = int(os.environ.get("MDH_RANDOM_ROWS_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int, most: int = 3000) -> Program | None:
    """None if the front end refuses it."""
    try:
        return read_program(Source(f"rows_{seed}.c", random_rows(seed, most=most).text))
    except Failed:
        return None


def right(seed: int, device: str, most: int) -> None:
    program = program_of(seed, most)
    if program is None:
        return
    opened = open_device(device)
    plan = planned(program, None, opened.machine, opened.target)
    found = execute(plan, opened, arguments(program, {}, seed), {})
    assert found.kind == "equal", (found, plan.text, random_rows(seed, most=most).text)


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    right(seed, "c", 3000)


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_right_on_a_gpu_without_races(seed: int) -> None:
    right(seed, "oclgrind", 600)


NESTED = 55
"""A stage in a nested one reads a tile of the kernel that the one around it does not read."""


FIVE_WARPS = (5091, 5158)
"""All lanes of five warps need the sum of their parts."""


@pytest.mark.parametrize("seed", [*SEEDS, NESTED, *FIVE_WARPS])
def test_right_in_the_interpreter(seed: int) -> None:
    """Kernels for a large GPU. The interpreter has no loops around them."""
    program = program_of(seed)
    if program is None or program.loops:
        return
    plan = planned(program, None, load_machine("h100"), "cuda")
    before = drawn(program, arguments(program, {}, seed), {})
    mine = {name: array.copy() for name, array in before.arrays.items()}
    run(lower(plan), mine, seed=seed)
    found = judged(before, mine)
    assert found.kind == "equal", (found, plan.text, random_rows(seed).text)


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_cuda_compiles(seed: int) -> None:
    program = program_of(seed)
    if program is not None:
        plan = planned(program, None, load_machine("h100"), "cuda")
        assert cubin_of(emit(lower(plan), program), "sm_90")


def test_most_are_one_kernel() -> None:
    """The plans alone. What stays apart has results that the user gets, or several stages at the end."""
    seen = Counter[str]()
    for seed in range(60):
        program = program_of(seed)
        if program is None:
            continue
        plan = planned(program, None, load_machine("h100"), "cuda")
        inner = [x for s in plan.stages for x in s.inner]
        seen["inside"] += bool(inner)
        seen["alone"] += len(plan.stages) == 1 and bool(inner)
        seen["nested"] += any(x.plan.inner for x in inner)
    assert seen["inside"] >= 20 and seen["alone"] >= 12 and seen["nested"] >= 1, seen
