"""Contractions of tensors on a GPU: boxes of several dimensions for a block are legal and right."""

import os
import time
from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.cost.gpu import Joining
from mdh.frontend.c.read import read_program
from mdh.hardware import Layer
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.contraction_boxes import OWN, SIDE, box_plans, sides
from mdh.schedule.default.contraction_gpu import outline_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Schedule, Unit
from mdh.source import Source
from tests.atoms.products import whole_numbers
from tests.atoms.warps import run
from tests.support.corpus import WORKLOADS
from tests.support.random_contractions import Tensors, tensors

COUNT = int(os.environ.get("MDH_RANDOM_BOXES", "12"))
MACHINES = ("h200", "h200", "a100", "v100")
LARGE = Tensors("afb", "cfed", "dceab", {"a": 28, "b": 47, "c": 5, "d": 7, "e": 9, "f": 829})


def program_of(case: Tensors) -> Program:
    return read_program(Source("contraction.c", case.text))


def judged(case: Tensors, program: Program, plan: Plan, seed: int) -> None:
    arrays = whole_numbers(program, seed)
    want = np.einsum(case.einsum, arrays["lhs"], arrays["rhs"])
    arrays["X"][...] = 77
    run(lower(plan), arrays, seed=seed)
    assert (arrays["X"] == want).all(), case


@pytest.mark.parametrize("seed", range(COUNT))
def test_default_schedules_are_right(seed: int) -> None:
    rng = Random(seed)
    case, on = tensors(rng), load_machine(rng.choice(MACHINES))
    program = program_of(case)
    judged(case, program, check(program, default_schedule(program, on, "cuda"), on, "cuda"), seed)


@pytest.mark.parametrize("seed", range(COUNT))
def test_any_box_is_right(seed: int) -> None:
    rng = Random(seed + 1000)
    case, on = tensors(rng), load_machine(rng.choice(MACHINES))
    program = program_of(case)
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    assert found is not None
    every = list(box_plans(shape, found, on, Joining.FRESH))
    for turned, plan in rng.sample(every, min(len(every), 2)):
        section = outline_of(shape, turned, on, plan).section("X")
        judged(case, program, check(program, Schedule((section,), on.name), on, "cuda"), seed)


def test_a_box_takes_short_dimensions_whole() -> None:
    program = program_of(LARGE)
    shape = Shape(program, program.stages[0])
    dims = [d.name for d in shape.stage.dims]
    found = sides(shape, tuple(dims.index(n) for n in "cde"))
    assert all(side.held <= OWN and side.size <= SIDE for side in found)
    assert len({(side.held, side.lanes) for side in found}) == len(found)
    assert any(side.block[dims.index("d")] == 7 and side.waste == 1.0 for side in found)


@pytest.mark.parametrize("name", ["ccsdt_1", "ccsdt_2", "ccsdt_7"])
def test_neighbouring_lanes_store_neighbouring_results(name: str) -> None:
    """Else ccsdt_1 takes 733 instead of 70 µs on an H100."""
    program = read_program(WORKLOADS[name].source)
    (section,) = default_schedule(program, load_machine("h200"), "cuda").sections
    units = {
        core.value.axis: d for step in section.steps for d, core in enumerate(step.cores)
        if isinstance(core.value, Unit) and core.value.layer is Layer.THR
    }  # fmt: skip
    dims = [d.name for d in program.stages[0].dims]
    for group in section.groups:
        first = dims.index(group[0])
        dims[first : first + len(group)] = [" ".join(group)]
    assert "f" in dims[units["x"]].split()


MANY = Tensors("abcdefz", "ghijklz", "agbhcidjekfl", {**dict.fromkeys("abcdefghijkl", 4), "z": 64})


@pytest.mark.parametrize("case", [LARGE, MANY])
def test_the_choice_takes_no_second(case: Tensors) -> None:
    program, on = program_of(case), load_machine("h200")
    start = time.process_time()
    default_schedule(program, on, "cuda")
    assert time.process_time() - start < 1.0
