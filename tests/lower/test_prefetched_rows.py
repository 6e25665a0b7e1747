"""Copies through registers of many short rows: what a thread moves is at one distance from round to round."""

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.corpus import WORKLOADS

STRIDED = """
1: (de-)comp( ^, 64, 1, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.y, BLK.x, ^, ^, ^, ^ )
2: (de-)comp( ^, ^, ^, ^, 1, ^, ^ ) ( I:SM[1,3,4,2]@pad(4), F:SM[2,3,4,1]@pad(4) ; O:RM[1,2,3,4] )
            ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
3: (de-)comp( ^, 32, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.y, ^, ^, ^, ^, ^ )
4: (de-)comp( ^, 8, ^, 8, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.y@cyclic(4), ^, THR.x@cyclic(4), ^, ^, ^ )
5: (de-)comp( ^, ^, ^, ^, ^, 1, 1 ) ( I:RM[1,2,3,4], F:RM[1,2,3,4] ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
"""
SIZES = {"N": 1, "W": 2, "K": 64, "R": 2, "STRIDE": 2}


def convolution(**sizes: int) -> Program:
    return read_program(WORKLOADS["conv2d"].source, defines={**SIZES, **sizes})


def text_of(program: Program) -> str:
    plan = check(program, parse_schedule(Source("s.mdh", STRIDED)), load_machine("rtx4090"), "cuda")
    return emit(lower(plan), program).source


def test_digits_of_a_dealt_row_are_put_together_again() -> None:
    """Rows go to threads by digits, but the elements of a copy are at one distance from one another."""
    text = text_of(convolution(H=64, C=3, S=7))
    rows = 7 * 3
    assert f"/ {rows} * {2 * (2 * 2 + 7 - 1) * 3}" in text
    assert f"/ {rows} /" not in text


def test_rounds_of_whole_rows() -> None:
    """64 threads of 63 elements, three rows; the last of 22 rounds has one row left."""
    text = text_of(convolution(H=64, C=3, S=7))
    assert "float I_next[22];" in text
    assert "tid < 63 && (c_I_round_2 < 21 || tid < 21)" in text
    assert "{\n                    }" not in text, "nothing is left behind the guard"


@pytest.mark.parametrize("channels, columns", [(2, 7), (4, 5), (1, 13), (4, 4), (9, 9)])
def test_others_stay_dealt_one_by_one(channels: int, columns: int) -> None:
    """Few elements, rows of which too few fit, rows that divide the threads, or more than registers hold."""
    assert "tid < 63" not in text_of(convolution(H=64, C=channels, S=columns))


@pytest.mark.parametrize("height, width, channels, columns", [(64, 1, 3, 7), (70, 2, 3, 7), (70, 1, 4, 5)])
def test_results(height: int, width: int, channels: int, columns: int) -> None:
    """The simulator finds no race, no access out of bounds and nothing uninitialised. Each column of the
    output is another block, and two of them are enough once: a block takes seconds."""
    program = convolution(H=height, W=width, C=channels, S=columns)
    plan = check(program, parse_schedule(Source("s.mdh", STRIDED)), load_machine("oclgrind"), "opencl")
    rng = np.random.default_rng(channels)
    wide = 2 * width + columns - 1
    image = rng.integers(-3, 4, (1, 2 * height + 1, wide, channels)).astype(np.float32)
    weights = rng.integers(-3, 4, (64, 2, columns, channels)).astype(np.float32)
    arrays = {"I": image, "F": weights, "O": np.zeros((1, height, width, 64), np.float32)}
    open_device("oclgrind").build(emit(lower(plan), program)).call(arrays, {}).launch()
    windows = np.lib.stride_tricks.sliding_window_view(image, (2, columns), (1, 2))[:, ::2, ::2]
    want = np.einsum("npqcrs,krsc->npqk", windows[:, :height, :width], weights)
    assert np.array_equal(arrays["O"], want)


@pytest.mark.parametrize("machine, arch", [("rtx4090", "sm_86"), ("rtx4090", "sm_89"), ("h200", "sm_90a")])
def test_the_default_of_a_strided_convolution_spills_nothing(machine: str, arch: str) -> None:
    program = read_program(WORKLOADS["conv2d"].source, defines=dict(WORKLOADS["conv2d"].full))
    model = load_machine(machine)
    default = default_schedule(program, model, "cuda")
    text = emit(lower(check(program, default, model, "cuda", default=default)), program)
    assert compile_cubin(text, arch).spill_bytes == 0
