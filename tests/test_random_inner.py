"""Random programs of two to four stages, some of them inside of their reader's kernel.

The results are those of the C text, there are no races, and nothing is read that has not been written.
"""

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.model import Hole, Section, Within
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.tuner.space.make import make_space
from tests.support.cubins import cubin_of
from tests.support.native import compiler
from tests.support.pairs import arguments, default_of, execute, planned
from tests.support.random_inner import inner_schedule, random_inner

COUNT = int(os.environ.get("MDH_RANDOM_INNER", "16"))
FIRST = int(os.environ.get("MDH_RANDOM_INNER_FROM", "0"))
SEEDS = range(FIRST, FIRST + COUNT)


@cache
def program_of(seed: int) -> Program | None:
    """None if the front end refuses it, or makes a single stage of it."""
    try:
        program = read_program(Source(f"inner_{seed}.c", random_inner(seed).text))
    except Failed:
        return None
    return program if len(program.stages) > 1 else None


def outcome(seed: int, device: str) -> str:
    """`equal`, the codes against the schedule, or nothing where no schedule could be drawn."""
    program = program_of(seed)
    if program is None:
        return ""
    opened = open_device(device)
    text = inner_schedule(program, opened.machine, opened.target, seed)
    if text is None:
        return ""
    try:
        plan = planned(program, parse_schedule(Source("inner.mdh", text)), opened.machine, opened.target)
    except Failed as failed:
        assert all(d.code[0] in "K" for d in failed.diagnostics), (failed, text)
        return " ".join(sorted({d.code for d in failed.diagnostics}))
    found = execute(plan, opened, arguments(program, {}, seed), {})
    assert found.kind == "equal", (found, plan.text, random_inner(seed).text)
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


def ways_of_holes(seed: int, device: str) -> Counter[str]:
    """Runs the ways that `stage T ?` offers where the seed's schedule has stages inside of others."""
    seen, program, opened = Counter[str](), program_of(seed), open_device(device)
    on, target = opened.machine, opened.target
    text = None if program is None else inner_schedule(program, on, target, seed)
    if program is None or text is None:
        return seen
    given = parse_schedule(Source("inner.mdh", text))
    sections = (
        Section(s.name, (), how=Hole(), derived=True) if isinstance(s.how, Within) else s
        for s in given.sections
    )
    given = replace(given, sections=tuple(sections))
    rest = default_of(program, on, target, given)
    try:
        space = make_space(program, given, on, target, default=rest)
    except Failed:
        return seen
    for n in Random(seed).sample(range(space.count), min(4, space.count)):
        point = space.unrank(n)
        plan = space.plan(point)
        if isinstance(plan, Failed):
            assert all(d.code[0] in "KS" for d in plan.diagnostics), (plan, point, text)
            continue
        found = execute(plan, opened, arguments(program, {}, seed), {})
        assert found.kind == "equal", (found, plan.text, random_inner(seed).text)
        again = parse_schedule(Source("again.mdh", plan.text))
        assert planned(program, again, on, target).text == plan.text
        seen.update(str(value).split(" ")[0] for value in point)
    return seen


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_ways_of_holes_are_right(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    ways_of_holes(seed, "c")
    ways_of_holes(seed, "oclgrind")


@pytest.mark.parametrize("seed", SEEDS[: COUNT // 2])
def test_cuda_compiles(seed: int) -> None:
    program, machine = program_of(seed), load_machine("h100")
    text = None if program is None else inner_schedule(program, machine, "cuda", seed)
    if program is None or text is None:
        return
    try:
        plan = planned(program, parse_schedule(Source("inner.mdh", text)), machine, "cuda")
    except Failed:
        return
    assert cubin_of(emit(lower(plan), program), "sm_90")


def test_many_are_legal_and_many_are_not() -> None:
    """The plans alone, for a CPU."""
    machine, seen = load_machine("generic-cpu"), Counter[str]()
    for seed in range(40):
        program = program_of(seed)
        text = None if program is None else inner_schedule(program, machine, "c", seed)
        if program is None or text is None:
            continue
        try:
            plan = planned(program, parse_schedule(Source("inner.mdh", text)), machine, "c")
        except Failed as failed:
            seen.update({d.code for d in failed.diagnostics})
            continue
        seen["legal"] += 1
        seen["chains"] += any(x.plan.inner for s in plan.stages for x in s.inner)
    assert seen["legal"] >= 12 and seen["chains"] >= 1
    assert {"K124", "K125"} <= seen.keys()


ROUNDED = """void inner(const double A[7][12], const float B[8][6], double O[4][8]) {
  float T0[4][10];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 10; j++)
      T0[i][j] = (j < 5 ? A[0][i + 7] - B[i + 1][3] : A[i + 2][j + 2]);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      O[i][j] = T0[i][j + 2] - A[6 - i][j];
}
"""
STEPS = """stage T0 in O:1 {
  (de-)comp( 1, 3 ) ( ^, ^ ; ^ )         ( FOR.1, FOR.2 )
  (de-)comp( ^, ^ ) ( A:SM[1,2], ^ ; ^ ) ( ^, ^ )
}
stage O {
  (de-)comp( 2, 6 ) ( ^, T0:SM[1,2] ; ^ ) ( BLK.x, BLK.y )
  (de-)comp( ^, 4 ) ( ^, ^ ; ^ )          ( ^, ^ )
  (de-)comp( 2, 1 ) ( ^, ^ ; ^ )          ( ^, VEC.x )
  (de-)comp( 1, ^ ) ( ^, ^ ; ^ )          ( FOR.1, ^ )
}
"""


def test_values_are_rounded_in_passing() -> None:
    """GCC 12 took what a float array held for the doubles that it was filled with."""
    if compiler() is None:
        pytest.skip("no C compiler here")
    device, program = open_device("c"), read_program(Source("rounded.c", ROUNDED))
    plan = planned(program, parse_schedule(Source("rounded.mdh", STEPS)), device.machine, device.target)
    found = execute(plan, device, arguments(program, {}, 1179), {})
    assert found.kind == "equal", found
