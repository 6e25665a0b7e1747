"""Random groups of dimensions to fuse: refused by K116, or the schedule computes what the reference does."""

import os
from random import Random

import pytest

from mdh.checker.fusing import CODE
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.fusion import fused, obstacle
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.reference.evaluate import evaluate_bounded
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.verify.verdict import fits
from tests.atoms.warps import run
from tests.support.arrays import random_arrays
from tests.support.native import compiler
from tests.support.pairs import execute, planned
from tests.support.random_fusions import asked, mistaken, random_fusion
from tests.support.random_schedules import steps_of

COUNT = int(os.environ.get("MDH_RANDOM_FUSIONS", "40"))


def drawn(seed: int, machine: Machine) -> tuple[Program, str, bool]:
    """A program, a schedule that fuses dimensions of its stages, and whether it must be refused."""
    random, rng = random_fusion(seed), Random(f"asked {seed}")
    program = read_program(Source(f"fusion_{seed}.c", random.text))
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
    return program, "\n".join(lines) + "\n", wrong


def refused(failed: Failed, *, wrong: bool) -> None:
    codes = {d.code for d in failed.diagnostics}
    assert CODE in codes if wrong else all(code[0] in "SK" for code in codes), failed


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right_in_c(seed: int) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    machine = load_machine("generic-cpu")
    program, text, wrong = drawn(seed, machine)
    try:
        plan = planned(program, parse_schedule(Source("fused.mdh", text)), machine, "c")
    except Failed as failed:
        refused(failed, wrong=wrong)
        return
    assert not wrong, text
    outcome = execute(plan, open_device("c"), random_arrays(program, seed, "exact", {}), {})
    assert outcome.kind == "equal", (outcome, text)


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right_in_the_interpreter(seed: int) -> None:
    machine = load_machine("h200")
    program, text, wrong = drawn(seed, machine)
    try:
        plan = planned(program, parse_schedule(Source("fused.mdh", text)), machine, "cuda")
    except Failed as failed:
        refused(failed, wrong=wrong)
        return
    assert not wrong, text
    arrays = random_arrays(program, seed, "exact", {})
    want = evaluate_bounded(program, arrays, exact=True)
    run(lower(plan), arrays, seed=seed)
    for name, bounded in want.items():
        assert fits(arrays[name], bounded).all(), (name, text)


@pytest.mark.parametrize("seed", range(COUNT))
def test_default_schedules_are_right(seed: int) -> None:
    random, machine = random_fusion(seed), load_machine("h200")
    program = read_program(Source(f"fusion_{seed}.c", random.text))
    plan = planned(program, None, machine, "cuda")
    arrays = random_arrays(program, seed, "exact", {})
    want = evaluate_bounded(program, arrays, exact=True)
    run(lower(plan), arrays, seed=seed)
    for name, bounded in want.items():
        assert fits(arrays[name], bounded).all(), (name, plan.text)


def test_much_is_fused_and_much_is_refused() -> None:
    drawn_ones = [drawn(seed, load_machine("h200")) for seed in range(40)]
    assert sum(wrong for _, _, wrong in drawn_ones) >= 10
    assert sum("fuse" in text and not wrong for _, text, wrong in drawn_ones) >= 10
