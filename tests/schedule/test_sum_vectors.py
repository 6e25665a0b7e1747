"""Contractions whose threads read vectors along the sum: their plans are legal and right."""

import os
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.cost.gpu import Joining
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference.evaluate import evaluate
from mdh.schedule.default import default_schedule
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.sum_vectors import find_vectors, outline_of, vector_plans
from mdh.schedule.model import Schedule
from mdh.source import Source
from tests.atoms.products import whole_numbers
from tests.atoms.warps import run
from tests.support.corpus import ROOT
from tests.support.random_contractions import Tensors

Draw = Callable[[Random], Program]
COUNT = int(os.environ.get("MDH_RANDOM_VECTORS", "10"))
CONVOLUTION = (ROOT / "inputs_c" / "conv2d.c").read_text(encoding="utf-8")


def contraction(rng: Random) -> Program:
    """Both factors end in the same index, which is summed."""
    rows, columns = "ab"[: rng.choice((1, 2))], "cd"[: rng.choice((1, 2))]
    sizes = {n: rng.choice((2, 3, 5, 8, 12, 17)) for n in rows + columns}
    summed = rng.choice(("z", "yz"))
    sizes |= {n: rng.choice((3, 4, 5, 8, 16, 17, 33)) for n in summed}
    head = "".join(rng.sample(rows + summed[:-1], len(rows + summed[:-1])))
    other = "".join(rng.sample(columns + summed[:-1], len(columns + summed[:-1])))
    result = "".join(rng.sample(rows + columns, len(rows + columns)))
    case = Tensors(f"{head}z", f"{other}z", result, sizes)
    return read_program(Source("contraction.c", case.text))


def convolution(rng: Random) -> Program:
    sizes = {
        "N": rng.choice((1, 2, 3)), "H": rng.choice((3, 4, 7)), "W": rng.choice((4, 5, 9)),
        "C": rng.choice((1, 3, 4, 5, 8, 13, 16, 20)), "K": rng.choice((3, 8, 17, 32)),
        "R": (r := rng.choice((1, 3, 5))), "S": r, "STRIDE": rng.choice((1, 1, 2)),
    }  # fmt: skip
    return read_program(Source("conv2d.c", CONVOLUTION), defines=sizes)


def judged(program: Program, schedule: Schedule, machine: str, seed: int) -> None:
    plan = check(program, schedule, load_machine(machine), "cuda")
    arrays = whole_numbers(program, seed)
    want = _wanted(program, arrays)
    (name,) = want
    arrays[name][...] = 77
    run(lower(plan), arrays, seed=seed)
    assert (arrays[name] == want[name]).all(), program.sizes


def _wanted(program: Program, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {n: np.asarray(a) for n, a in evaluate(program, arrays, {}).items()}


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("draw", [contraction, convolution])
def test_any_plan_is_right(draw: Draw, seed: int) -> None:
    rng = Random(f"{draw.__name__} {seed}")
    program, machine = draw(rng), rng.choice(("h200", "a100", "v100"))
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    vectors = None if found is None else find_vectors(shape, found)
    if vectors is None:
        return
    on = load_machine(machine)
    every = list(vector_plans(shape, vectors, on, Joining.FRESH))
    for turned, plan in rng.sample(every, min(len(every), 2)):
        section = outline_of(shape, turned, plan, on).section(program.stages[0].name)
        judged(program, Schedule((section,), machine), machine, seed)


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("draw", [contraction, convolution])
def test_default_is_right(draw: Draw, seed: int) -> None:
    rng = Random(f"default {draw.__name__} {seed}")
    program, machine = draw(rng), rng.choice(("h200", "a100", "v100"))
    judged(program, default_schedule(program, load_machine(machine), "cuda"), machine, seed)
