"""Default schedules of convolutions on GPUs: legal on every machine, right where the edge cuts, soon made."""

import time

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference.evaluate import evaluate
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.default import default_schedule
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.window import find_window
from mdh.schedule.default.window_plans import even, plans
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.corpus import WORKLOADS

GROUPED = {"R": 3, "S": 3}
SIZES = {
    "grouped_conv": [
        {"N": 2, "G": 2, "C": 5, "F": 3, "H": 7, "W": 10, **GROUPED},
        {"N": 3, "G": 1, "C": 2, "F": 9, "H": 5, "W": 5, **GROUPED},
        {"N": 1, "G": 2, "C": 3, "F": 4, "H": 17, "W": 13, "R": 5, "S": 2},
    ],
    "conv2d": [
        {"N": 1, "H": 9, "W": 11, "C": 3, "K": 10, "R": 7, "S": 7, "STRIDE": 2},
        {"N": 2, "H": 6, "W": 5, "C": 5, "K": 3, "R": 3, "S": 2, "STRIDE": 3},
    ],
    "conv2d_56": [
        {"N": 1, "H": 7, "W": 7, "C": 40, "K": 6, "R": 3, "S": 3},
        {"N": 3, "H": 4, "W": 15, "C": 4, "K": 17, "R": 3, "S": 1},
    ],
}
ALL = [(name, sizes) for name, several in SIZES.items() for sizes in several]
LARGE = {
    "grouped_conv": {"N": 32, "G": 32, "C": 8, "F": 8, "H": 26, "W": 26, **GROUPED},
    "conv2d": {"N": 16, "H": 112, "W": 112, "C": 3, "K": 64, "R": 7, "S": 7, "STRIDE": 2},
    "conv2d_56": {"N": 1, "H": 28, "W": 28, "C": 128, "K": 128, "R": 3, "S": 3},
}
OTHERS = {
    "line": """
void line(const {t} x[40][9], const {t} w[12][9][5], {t} y[36][12]) {{
  for (int i = 0; i < 36; i++)
    for (int f = 0; f < 12; f++)
      for (int c = 0; c < 9; c++)
        for (int k = 0; k < 5; k++)
          y[i][f] += x[i + k][c] * w[f][c][k];
}}""",
    "volume": """
void volume(const {t} x[3][6][9][9], const {t} w[16][3][2][3][3], {t} y[16][5][7][7]) {{
  for (int f = 0; f < 16; f++)
    for (int a = 0; a < 5; a++)
      for (int b = 0; b < 7; b++)
        for (int d = 0; d < 7; d++)
          for (int c = 0; c < 3; c++)
            for (int i = 0; i < 2; i++)
              for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                  y[f][a][b][d] += x[c][a + i][b + j][d + k] * w[f][c][i][j][k];
}}""",
    "backwards": """
void backwards(const {t} x[4][40], const {t} w[24][4][3], {t} y[24][38]) {{
  for (int f = 0; f < 24; f++)
    for (int i = 0; i < 38; i++)
      for (int c = 0; c < 4; c++)
        for (int k = 0; k < 3; k++)
          y[f][i] += x[c][i + 2 - k] * w[f][c][k];
}}""",
}
GPUS = (("a100", "cuda"), ("h200", "cuda"), ("rtx4090", "opencl"), ("v100", "cuda"), ("oclgrind", "opencl"))


def of(name: str, sizes: dict[str, int]) -> Program:
    return read_program(WORKLOADS[name].source, defines=sizes)


def other(name: str, dtype: str, *, strict: bool = False) -> Program:
    return read_program(Source(f"{name}.c", OTHERS[name].format(t=dtype)), strict_fp=strict)


def slides(program: Program, machine: str = "oclgrind") -> bool:
    """Whether a plan with windows was there to choose."""
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    window = find_window(shape, found) if found is not None else None
    return window is not None and any(plans(shape, window, load_machine(machine)))


def right(program: Program) -> None:
    """Under the simulator, with small numbers, which add up exactly."""
    machine = load_machine("oclgrind")
    plan = check(program, default_schedule(program, machine, "opencl"), machine, "opencl")
    rng = np.random.default_rng(7)
    arrays = {b.name: rng.integers(-3, 4, b.shape).astype(numpy_dtype(b.dtype)) for b in program.buffers}
    want = evaluate(program, arrays)
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()
    for name, result in want.items():
        assert (arrays[name] == result).all(), name


@pytest.mark.parametrize("name, sizes", ALL, ids=[f"{n}-{i}" for i, (n, _) in enumerate(ALL)])
def test_right_where_the_edge_cuts(name: str, sizes: dict[str, int]) -> None:
    right(of(name, sizes))


@pytest.mark.parametrize("dtype", ["float", "double", "int", "signed char"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_shapes_and_types(name: str, dtype: str) -> None:
    program = other(name, dtype)
    assert slides(program)
    right(program)


def test_in_order_there_is_no_window() -> None:
    """Channels first would add in another order than C."""
    assert not slides(other("line", "float", strict=True))
    assert slides(other("line", "int", strict=True))


@pytest.mark.parametrize("machine, target", GPUS)
@pytest.mark.parametrize("name", LARGE)
def test_legal_and_soon_made(name: str, machine: str, target: str) -> None:
    program, model = of(name, LARGE[name]), load_machine(machine)
    assert slides(program, machine)
    start = time.process_time()
    schedule = default_schedule(program, model, target)
    assert time.process_time() - start < 1.0  # 0.1 s on a machine that does nothing else
    assert lower(check(program, schedule, model, target)).kernels


def test_rows_of_a_thread_waste_little() -> None:
    assert even(12) == [1, 2, 3, 4, 6, 12]
    assert even(13) == [1, 2, 7, 13]
    assert 3 in even(26) or 9 in even(26)
    assert even(1) == [1]
