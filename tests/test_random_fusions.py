"""Random groups of dimensions to fuse: refused by K116, or the schedule computes what the reference does."""

import os
from collections.abc import Mapping
from functools import cache
from random import Random

import pytest

from mdh.checker.fusing import CODE
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.fusion import fused, obstacle
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference.error import Bounded
from mdh.reference.evaluate import evaluate_bounded
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.verify.verdict import fits
from tests.atoms.warps import run
from tests.support.arrays import random_arrays
from tests.support.native import compiler
from tests.support.pairs import execute, planned
from tests.support.random_fusions import RandomFusion, asked, mistaken, random_fusion
from tests.support.random_schedules import steps_of

COUNT = int(os.environ.get("MDH_RANDOM_FUSIONS", "40"))


@cache
def case(seed: int) -> tuple[RandomFusion, Program]:
    """A random program, and what is known of it. Three tests have the same ones."""
    random = random_fusion(seed)
    return random, read_program(Source(f"fusion_{seed}.c", random.text))


@cache
def expected(seed: int) -> Mapping[str, Bounded]:
    """What its arrays must hold."""
    _, program = case(seed)
    return evaluate_bounded(program, random_arrays(program, seed, "exact", {}), exact=True)


@cache
def drawn(seed: int, name: str) -> tuple[str, bool]:
    """A schedule that fuses dimensions of the stages, for a machine, and whether it must be refused."""
    random, program = case(seed)
    rng, machine = Random(f"asked {seed}"), load_machine(name)
    lines, wrong = list[str](), False
    for stage in program.stages:
        groups = asked(random, stage, rng)
        wrong |= any(mistaken(random, program, stage, group) for group in groups)
        fit = obstacle(program, stage, groups) is None
        view = fused(program, stage, groups) if fit else program
        seen = next(s for s in view.stages if s.name == stage.name)
        steps = steps_of(rng, view, seen, machine)
        fuses = [f"fuse {', '.join(group)}" for group in groups]
        lines += [f"stage {stage.name} {{", *fuses, *steps, "}"]
    return "\n".join(lines) + "\n", wrong


def accepted(seed: int, name: str, target: str) -> Plan | None:
    """The plan of the schedule that is drawn; None if it is refused, as it must be."""
    _, program = case(seed)
    text, wrong = drawn(seed, name)
    try:
        plan = planned(program, parse_schedule(Source("fused.mdh", text)), load_machine(name), target)
    except Failed as failed:
        codes = {d.code for d in failed.diagnostics}
        assert CODE in codes if wrong else all(code[0] in "SK" for code in codes), failed
        return None
    assert not wrong, text
    return plan


def right_in_the_interpreter(plan: Plan, seed: int) -> None:
    arrays = random_arrays(case(seed)[1], seed, "exact", {})
    run(lower(plan), arrays, seed=seed)
    for name, bounded in expected(seed).items():
        assert fits(arrays[name], bounded).all(), (name, plan.text)


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    plan = accepted(seed, "generic-cpu", "c")
    if plan is not None:
        outcome = execute(plan, open_device("c"), random_arrays(case(seed)[1], seed, "exact", {}), {})
        assert outcome.kind == "equal", (outcome, plan.text)


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right_in_the_interpreter(seed: int) -> None:
    plan = accepted(seed, "h200", "cuda")
    if plan is not None:
        right_in_the_interpreter(plan, seed)


@pytest.mark.parametrize("seed", range(COUNT))
def test_default_schedules_are_right(seed: int) -> None:
    right_in_the_interpreter(planned(case(seed)[1], None, load_machine("h200"), "cuda"), seed)


def test_much_is_fused_and_much_is_refused() -> None:
    drawn_ones = [drawn(seed, "h200") for seed in range(40)]
    assert sum(wrong for _, wrong in drawn_ones) >= 10
    assert sum("fuse" in text and not wrong for text, wrong in drawn_ones) >= 10
