"""Blocks that share a sum add their parts in vectors, where the machine has such additions."""

import re
from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.target.text import KernelText
from tests.support.corpus import ROOT, WORKLOADS

SHARED_SUM = """
1: (de-)comp( 16, 64, 24 ) ( ^, ^ ; ^@combine(atomic) )         ( BLK.y, BLK.x, BLK.z )
2: (de-)comp( ^, ^, 8 )    ( A:SM[2,1], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 4, 4, ^ )    ( ^, ^ ; ^ )                         ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 1 )    ( A:RM[1,2], B:RM[1,2] ; ^ )         ( ^, ^, FOR.1 ) @unroll
"""


def product(m: int, n: int, k: int) -> Program:
    return read_program(WORKLOADS["matmul"].source, defines={"M": m, "N": n, "K": k})


def text(program: Program, machine: str) -> KernelText:
    plan = check(program, parse_schedule(Source("s.mdh", SHARED_SUM)), load_machine(machine), "cuda")
    return emit(lower(plan), program)


def added(source: str) -> set[str]:
    return {found[1] or "float" for found in re.finditer(r"atomicAdd\((?:\((\w+) \*\))?&C", source)}


@pytest.mark.parametrize(("n", "width"), ((128, "float4"), (130, "float2"), (129, "float")))
def test_as_wide_as_rows_allow(n: int, width: str) -> None:
    kernel = text(product(32, n, 48), "h200")
    assert added(kernel.source) == {width}
    assert compile_cubin(kernel, "sm_90a").spill_bytes == 0


def test_earlier_machines_add_one_by_one() -> None:
    assert added(text(product(32, 128, 48), "a100").source) == {"float"}


@pytest.mark.gpu
@pytest.mark.parametrize("size", ((32, 128, 48), (19, 132, 50), (17, 130, 25)))
def test_results_are_right(size: tuple[int, int, int], tmp_path: Path) -> None:
    m, n, k = size
    schedule = tmp_path / "shared_sum.mdh"
    schedule.write_text(SHARED_SUM)
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n), (m, n)))
    want = a @ b + c
    kernel = mdh.compile(ROOT / "inputs_c/matmul.c", schedule, "cuda:0", defines={"M": m, "N": n, "K": k})
    kernel(a, b, c)
    assert np.array_equal(c, want)
