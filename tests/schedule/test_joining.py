"""Default schedules let blocks add to the output where the machine does that fast, and nowhere else."""

import re

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.cost.gpu import Joining
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.joining import joining_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.corpus import WORKLOADS

ADDING = "@combine(atomic)"
H200 = load_machine("h200")
SHARED = {
    "matmul": {"M": 16, "N": 1000, "K": 2048},
    "conv2d_56": {},
    "matmul_bias_relu": {"M": 16, "N": 1000, "K": 2048},
}
"""Whose sums blocks of an H200 share."""
ADDED = {
    "matmul_row": "void f(const float A[2048], const float B[2048][1000], float C[1000]) {"
    " for (int j = 0; j < 1000; j++) for (int k = 0; k < 2048; k++) C[j] += A[k] * B[k][j]; }",
    "total": "void f(const float x[1 << 22], float *s) { for (int i = 0; i < 1 << 22; i++) s[0] += x[i]; }",
}


KERNELS = {
    Joining.KERNEL: ("_kernel", "_combine"),
    Joining.FRESH: ("_start", "_kernel"),
    Joining.IN_PLACE: ("_kernel",),
}


def program(name: str) -> Program:
    return read_program(WORKLOADS[name].source, defines=SHARED[name])


def text(of: Program, machine: str = "h200", target: str = "cuda", *, deterministic: bool = False) -> str:
    model = load_machine(machine)
    schedule = default_schedule(of, model, target, deterministic=deterministic)
    plan = check(of, schedule, model, target, deterministic=deterministic)
    kernels = emit(lower(plan), of).kernels
    joining = joining_of(Shape(of, of.stages[0]), model, target) if ADDING in plan.text else Joining.KERNEL
    assert tuple(k.name.removeprefix(of.name) for k in kernels) == KERNELS[joining]
    return print_schedule(schedule)


@pytest.mark.parametrize("name", ["matmul", "conv2d_56"])
def test_blocks_add_to_what_is_there(name: str) -> None:
    assert ADDING in text(program(name))
    assert ADDING not in text(program(name), deterministic=True)
    assert ADDING not in text(program(name), target="opencl"), "OpenCL has a loop for it"
    assert ADDING not in text(program(name), "a100"), "one float at a time there"


def test_blocks_add_to_what_a_kernel_starts() -> None:
    """Where that is faster than a second kernel that adds many parts."""
    sizes = {"M": 896, "N": 608, "K": 2208}
    of = read_program(WORKLOADS["matmul_init"].source, defines=sizes)
    assert ADDING in text(of)
    assert ADDING not in text(of, deterministic=True)
    assert ADDING not in text(of, target="opencl")


def test_a_second_kernel_adds_where_the_sum_is_not_what_is_written() -> None:
    assert ADDING not in text(program("matmul_bias_relu"))


@pytest.mark.parametrize("source", ADDED.values(), ids=ADDED)
def test_reductions_do_likewise(source: str) -> None:
    of = read_program(Source("f.c", source))
    assert ADDING in text(of)
    assert ADDING not in text(of, deterministic=True)
    doubles = read_program(Source("f.c", source.replace("float", "double")))
    assert ADDING not in text(doubles), "one at a time, too"


TWICE = """void f(const T A[M][K], const T B[K][N], T C[M][N], T D[N][M]) {
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
    T s = 3;
    for (int k = 0; k < K; k++) s += A[i][k] * B[k][j];
    C[i][j] = s; D[j][i] = s; } }"""


def twice(element: str, **sizes: int) -> Program:
    """A product that is stored as it is and transposed."""
    return read_program(Source("f.c", TWICE), defines={"T": element, **sizes})


def test_each_output_of_a_sum_is_started_and_added_to() -> None:
    of = twice("float", M=100, N=60, K=3000)
    schedule = default_schedule(of, H200, "cuda")
    made = emit(lower(check(of, schedule, H200, "cuda")), of)
    assert print_schedule(schedule).count(ADDING) == 2
    assert [k.name for k in made.kernels] == ["f_start", "f_start_2", "f_kernel"]
    first, second, main = made.source.split('extern "C"')[1:]
    assert re.search(r"    C\[.*\] = 3.0f;", first)
    assert re.search(r"    D\[.*\+ thr_i\] = 3.0f;", second), "neighbours write neighbours"
    assert "atomicAdd(&C[" in main and "atomicAdd(&D[" in main


def test_each_output_of_a_sum_is_right() -> None:
    """By the same lowering, on integers: blocks race for the elements of both."""
    of = twice("int", M=10, N=6, K=60)
    shapes = {"A": (10, 60), "B": (60, 6), "C": (10, 6), "D": (6, 10)}
    text = "1: (de-)comp( ^, ^, 20 ) ( ^, ^ ; ^@combine(atomic), ^@combine(atomic) ) ( ^, ^, BLK.x )\n"
    plan = check(of, parse_schedule(Source("s.mdh", text)), load_machine("oclgrind"), "opencl")
    rng = np.random.default_rng(3)
    arrays = {name: rng.integers(-9, 9, shape).astype(np.int32) for name, shape in shapes.items()}
    open_device("oclgrind").build(emit(lower(plan), of)).call(arrays, {}).launch()
    want = 3 + arrays["A"] @ arrays["B"]
    assert (arrays["C"] == want).all()
    assert (arrays["D"] == want.T).all()
