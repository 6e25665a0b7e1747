"""Prefix sums on CPUs by chunks: sums, extremes and products, inclusive and not, of any length."""

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference import evaluate
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit

BLOCKS = """
1: (de-)comp( 64 ) ( ^ ; ^ ) ( BLK.x )
2: (de-)comp( 8 )  ( ^ ; ^ ) ( FOR.1 )
3: (de-)comp( 1 )  ( ^ ; ^ ) ( FOR.1 ) @unroll
"""
ALONE = """
1: (de-)comp( 4 ) ( ^ ; ^ ) ( FOR.1 )
2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 ) @unroll
"""
INCLUSIVE = "x = x OP A[i]; S[i] = x;"
EXCLUSIVE = "S[i] = x; x = x OP A[i];"
MAXIMUM = "x = A[i] > x ? A[i] : x; S[i] = x;"


def source(body: str, n: int) -> Source:
    loop = f"for (int i = 0; i < {n}; i++) {{ {body} }}"
    return Source("scan.c", f"void scan(const int A[{n}], int S[{n}]) {{ int x = 3; {loop} }}")


@pytest.mark.parametrize("n", (64, 203, 1000))
@pytest.mark.parametrize("schedule", (BLOCKS, ALONE))
@pytest.mark.parametrize(
    "body",
    (INCLUSIVE.replace("OP", "+"), EXCLUSIVE.replace("OP", "+"), INCLUSIVE.replace("OP", "*"), MAXIMUM),
)
def test_prefixes_are_right(body: str, schedule: str, n: int) -> None:
    program = read_program(source(body, n))
    device = open_device("opencl:0")
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), device.machine, "opencl")
    arrays = {"A": np.random.default_rng(4).integers(-9, 10, n, dtype=np.int32), "S": np.zeros(n, np.int32)}
    expected = evaluate(program, {k: v.copy() for k, v in arrays.items()}, {})
    device.build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert np.array_equal(arrays["S"], expected["S"])


def test_one_operation_from_chunk_to_chunk_and_lanes_in_the_sums() -> None:
    text = "void scan(const float A[203], float S[203])"
    c = f"{text} {{ float x = 0; for (int i = 0; i < 203; i++) {{ x += A[i]; S[i] = x; }} }}"
    schedule = parse_schedule(Source("s.mdh", BLOCKS))
    cpu = load_machine("generic-cpu")
    program = read_program(Source("scan.c", c))
    by_chunks = emit(lower(check(program, schedule, cpu, "opencl")), program).source
    assert "const float carry = S_RM;" in by_chunks
    assert "S_RM = carry + mine;" in by_chunks
    assert "float8 scan_totals_RM = 0.0f;" in by_chunks
    strict = read_program(Source("scan.c", c), strict_fp=True)
    whole = parse_schedule(Source("s.mdh", ALONE))
    in_order = emit(lower(check(strict, whole, cpu, "opencl")), strict).source
    assert "carry" not in in_order
