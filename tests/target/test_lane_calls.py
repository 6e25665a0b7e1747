"""Vector functions of which an extreme lane spoils the others."""

import re

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.self_test import extreme
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference import evaluate_bounded
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.faults import NONE, CompilerFaults
from tests.support.pairs import difference, planned

TEXT = """#include <math.h>
void f(const {t} x[2048], {t} y[2048]) {{
  for (int i = 0; i < 2048; i++)
    y[i] = {c};
}}
"""


def _source(call: str, ctype: str = "float", faults: CompilerFaults | None = None) -> str:
    program = read_program(Source("f.c", TEXT.format(t=ctype, c=call)))
    module = lower(planned(program, None, load_machine("generic-cpu"), "opencl"))
    return emit(module, program, faults).source


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_trigonometry_is_spelled_around_where_it_may_be_wrong(name: str) -> None:
    text = _source(f"{name}f(x[i])")
    found = re.search(rf"= {name}_f32x(\d+)\(\*", text) or re.search(rf"{name}_f32x(\d+)\(\*", text)
    assert found is not None
    assert f"inline float{found[1]} {name}_f32x{found[1]}(float{found[1]} a)" in text
    assert f"{name}_f32x" not in _source(f"{name}f(x[i])", faults=NONE)


@pytest.mark.parametrize(("call", "ctype"), [("expf(x[i])", "float"), ("sin(x[i])", "double")])
def test_what_is_right_is_left_alone(call: str, ctype: str) -> None:
    assert "inline" not in _source(call, ctype)


def test_a_function_of_two_is_called_lane_by_lane() -> None:
    faults = CompilerFaults(lanes=frozenset({"pow_f32x8", "pow_f32x4", "pow_f32x2"}))
    text = _source("powf(x[i], 2.5f + x[i])", faults=faults)
    assert "pow(a.s0, b.s0), pow(a.s1, b.s1)" in text
    assert "isless" not in text


@pytest.mark.parametrize("spec", ["opencl:0", "c"])
@pytest.mark.parametrize("call", ["sinf(x[i])", "cosf(x[i])", "tanf(x[i])"])
def test_extreme_lanes_do_not_spoil_others(spec: str, call: str) -> None:
    try:
        device = open_device(spec)
    except Failed as failed:
        pytest.skip(failed.diagnostics[0].headline)
    program = read_program(Source("f.c", TEXT.format(t="float", c=call)))
    arrays = {"x": extreme(np.dtype(np.float32), 7), "y": np.zeros(2048, np.float32)}
    arrays["x"] = np.where(np.abs(arrays["x"]) > 1e30, np.inf, arrays["x"]).astype(np.float32)
    text = emit(lower(planned(program, None, device.machine, device.target)), program)
    device.build(text).call(arrays, {}).launch()
    with np.errstate(all="ignore"):
        want = evaluate_bounded(program, arrays, {})["y"]
    assert difference("y", arrays["y"], want) is None
