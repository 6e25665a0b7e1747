"""Stages inside of their reader's kernel: the ways that holes offer, and what is rounded in passing."""

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.schedule.model import Hole, Section, Within
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space.make import make_space
from tests.support.native import compiler
from tests.support.pairs import arguments, default_of, execute, planned
from tests.support.random_inner import inner_schedule
from tests.support.random_kinds import INNER

COUNT = int(os.environ.get("MDH_RANDOM", "8"))
FIRST = int(os.environ.get("MDH_RANDOM_FROM", "0"))


def ways_of_holes(seed: int, device: str) -> Counter[str]:
    """Runs the ways that `stage T ?` offers where the seed's schedule has stages inside of others."""
    seen, opened = Counter[str](), open_device(device)
    on, target = opened.machine, opened.target
    program = INNER.program(seed, target)
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
        assert found.kind == "equal", (found, plan.text, INNER.text(seed))
        again = parse_schedule(Source("again.mdh", plan.text))
        assert planned(program, again, on, target).text == plan.text
        seen.update(str(value).split(" ")[0] for value in point)
    return seen


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_ways_of_holes_are_right(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    ways_of_holes(seed, "c")
    ways_of_holes(seed, "oclgrind")


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
