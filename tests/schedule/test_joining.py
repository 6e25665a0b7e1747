"""Default schedules let blocks add to the output where the machine does that fast, and nowhere else."""

import pytest

from mdh.check.run import check
from mdh.frontend.c import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.joining import Joining, joining_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.corpus import WORKLOADS

ADDING = "@combine(atomic)"
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


def program(name: str) -> Program:
    return read_program(WORKLOADS[name].source, defines=SHARED[name])


def text(of: Program, machine: str = "h200", target: str = "cuda", *, deterministic: bool = False) -> str:
    model = load_machine(machine)
    schedule = default_schedule(of, model, target, deterministic=deterministic)
    plan = check(of, schedule, model, target, deterministic=deterministic)
    kernels = len(emit(lower(plan), of).kernels)
    alone = ADDING in plan.text and joining_of(Shape(of, of.stages[0]), model, target) is Joining.IN_PLACE
    assert kernels == (1 if alone else 2), "nothing before it, nothing after it"
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
