"""Random programs of several stages, some of which are inline: the results are those of the C text."""

import os
from functools import cache
from random import Random

import numpy as np
import pytest

from mdh.checker.inlining import CODE
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.inlining import InliningError
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.poly.inlining import inlined
from mdh.poly.recomputation import computed_twice
from mdh.reference.evaluate import evaluate
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.soundness.apart import evaluate_apart
from tests.support.arrays import Arrays, random_arrays
from tests.support.native import compiler
from tests.support.pairs import execute, planned
from tests.support.random_kinds import right_in_the_interpreter
from tests.support.random_schedules import random_schedule
from tests.support.random_stages import random_stages, some_inline

COUNT = int(os.environ.get("MDH_RANDOM_INLINING", "24"))
FIRST = int(os.environ.get("MDH_RANDOM_INLINING_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> Program | None:
    """None if the front end refuses it."""
    try:
        return read_program(Source(f"stages_{seed}.c", random_stages(seed).text))
    except Failed:
        return None


def arrays_of(program: Program, seed: int) -> Arrays:
    kind = "exact" if seed % 2 else "random"
    return random_arrays(program, seed, kind, random_stages(seed).below)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_values_bit_for_bit(seed: int) -> None:
    """Also where points of a stage run one after another in any order."""
    program = program_of(seed)
    if program is None:
        return
    arrays, names = arrays_of(program, seed), some_inline(program, Random(f"inline {seed}"))
    found = inlined(program, names).program
    with np.errstate(all="ignore"):
        want = evaluate(program, arrays, {})
        for got in (evaluate(found, arrays, {}), evaluate_apart(found, arrays, {}, seed)):
            for name, array in want.items():
                assert array.tobytes() == got[name].tobytes(), (name, names, random_stages(seed).text)


def refused_or_right(seed: int, device: str, schedule: str | None) -> None:
    program = program_of(seed)
    if program is None:
        return
    opened = open_device(device)
    given = None if schedule is None else parse_schedule(Source("inline.mdh", schedule))
    try:
        plan = planned(program, given, opened.machine, opened.target)
    except Failed as failed:
        assert schedule is not None, failed
        assert all(d.code[0] in "SK" and d.code != CODE for d in failed.diagnostics), (failed, schedule)
        return
    outcome = execute(plan, opened, arrays_of(program, seed), {})
    assert outcome.kind == "equal", (outcome, plan.text, random_stages(seed).text)
    again = parse_schedule(Source("again.mdh", plan.text))
    assert planned(program, again, opened.machine, opened.target).text == plan.text


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    program = program_of(seed)
    if program is not None:
        refused_or_right(seed, "c", random_schedule(program, open_device("c").machine, seed))


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_right_in_the_interpreter(seed: int) -> None:
    """Kernels of a GPU, by the default schedule of what is left. The interpreter has no loops around them."""
    program = program_of(seed)
    if program is None or program.loops:
        return
    names = some_inline(program, Random(f"inline {seed}"))
    given = parse_schedule(Source("inline.mdh", "".join(f"stage {n} inline\n" for n in names)))
    plan = planned(program, given if names else None, load_machine("h200"), "cuda")
    right_in_the_interpreter(plan, arrays_of(program, seed), seed)


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_default_schedules_are_right(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    refused_or_right(seed, "c", None)


def test_much_is_inlined_and_much_is_refused() -> None:
    programs = [p for seed in range(20) if (p := program_of(seed)) is not None]
    some = [some_inline(p, Random(n), 1.0) for n, p in enumerate(programs)]
    assert sum(len(names) for names in some) >= 20
    stages = [(p, s) for p in programs for s in p.stages]
    refused = []
    for program, stage in stages:
        try:
            inlined(program, {stage.name})
        except InliningError as unfit:
            refused.append(unfit.why)
    assert len(set(refused)) >= 8


def test_what_is_computed_once() -> None:
    """By counting the points that each reader computes."""
    text = """void f(const float A[40], float O[20], float P[6][5]) {
      float T[40], U[30];
      for (int i = 0; i < 40; i++) T[i] = A[i] * A[i];
      for (int i = 0; i < 30; i++) U[i] = A[i] + 1;
      for (int i = 0; i < 20; i++) O[i] = T[2 * i + 1];
      for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) P[i][j] = U[5 * i + j];
    }"""
    program = read_program(Source("f.c", text))
    for name, stage in (("T", program.stages[0]), ("U", program.stages[1])):
        (one,) = inlined(program, {name}).stages
        assert computed_twice(stage, one) is None
