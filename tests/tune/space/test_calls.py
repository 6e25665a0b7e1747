"""Choices between the steps of a stage and a library."""

from random import Random

import pytest

from mdh.checker.open_default import default_for
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import CALLS, Program
from mdh.machine import load_machine
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_calls import with_choices
from mdh.tuner.candidates.open_tiles import opened
from mdh.tuner.space.make import make_space
from mdh.tuner.space.space import ExactSpace

CPU = load_machine("generic-cpu")
NEST = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++)"
ONE = f"{NEST} for (int k = 0; k < 64; k++) C[i][j] += A[i][k] * B[k][j];"
TWO = f"{ONE} {NEST} for (int k = 0; k < 64; k++) D[i][j] += C[i][k] * B[k][j];"
STEPS = "{ 1: (de-)comp( ?{8,16}, ^, ^ ) ( ^,^ ; ^ ) ( BLK.x, ^, ^ ) }"


def program(body: str, *, allow: tuple[str, ...] = ()) -> Program:
    params = ", ".join(f"float {name}[64][64]" for name in ("A", "B", "C", *("D" if "D[" in body else "")))
    return read_program(Source("f.c", f"void f({params}) {{ {body} }}"), allow=allow)


def space(found: Program, text: str) -> ExactSpace:
    schedule = parse_schedule(Source("f.mdh", text))
    default = default_for(found, CPU, "c", given=schedule)
    return make_space(found, schedule, CPU, "c", default=default)


def plans(found: ExactSpace) -> list[Plan]:
    made = [found.plan(found.unrank(n)) for n in range(found.count)]
    assert all(isinstance(p, Plan) for p in made), made
    return [p for p in made if isinstance(p, Plan)]


@pytest.mark.parametrize("body", [ONE, TWO])
def test_a_choice_is_a_variable_of_the_space(body: str) -> None:
    found = space(program(body), f"stage C = ?{{steps, library(openblas)}} {STEPS}")
    assert [v.values for v in found.variables if "how" in v.name] == [("steps", "library(openblas)")]
    assert found.count == 4
    by_call = [p.stages[0].call is not None for p in plans(found)]
    assert sorted(by_call) == [False, False, True, True]


def test_a_library_alone_is_one_point() -> None:
    for body in (ONE, TWO):
        found = space(program(body), "stage C = library(openblas)")
        (plan,) = plans(found)
        assert plan.stages[0].call is not None


def test_an_open_way_has_libraries_only_if_the_user_lets_it() -> None:
    text = f"stage C ? {STEPS}"
    assert "library(openblas)" not in space(program(ONE), text).variables[-1].values
    ways = [v.values for v in space(program(ONE, allow=(CALLS,)), text).variables if "how" in v.name]
    assert "library(openblas)" in ways[0]


def test_tunings_without_a_schedule_choose_for_each_product() -> None:
    found, plain = program(TWO, allow=(CALLS,)), program(TWO)
    steps = opened(default_for(plain, CPU, "c"), plain, CPU)
    schedule = with_choices(steps, found, "c", deterministic=False)
    said = print_schedule(schedule)
    assert said.count("= ?{steps,library(openblas)} {") == 2
    assert holes(parse_schedule(Source("again", said))) != holes(steps)
    whole = make_space(found, schedule, CPU, "c", default=default_for(found, CPU, "c", given=schedule))
    drawn = {tuple(s.call is not None for s in plan.stages) for plan in _drawn(whole)}
    assert len(drawn) > 1


def _drawn(found: ExactSpace) -> list[Plan]:
    rng, out = Random(1), []
    for _ in range(8):
        legal = found.draw_legal(rng, 100)
        assert legal is not None
        out.append(legal[1])
    return out
