"""What multiplies every term of a sum multiplies the sum, once."""

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit

SCALED = """
void scaled(float alpha, float beta, const float A[37][50], const float x[50], float y[37]) {
  for (int i = 0; i < 37; i++) {
    y[i] *= beta;
    for (int k = 0; k < 50; k++)
      y[i] += 2.0f * (alpha * A[i][k]) * x[k];
  }
}
"""
SCHEDULES = {
    "in registers": """
1: (de-)comp( 8, ^ ) ( ^, ^ ; y:RM[1] ) ( BLK.x, ^ )
2: (de-)comp( 1, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^ )
""",
    "parts added by a kernel": """
1: (de-)comp( 8, 16 ) ( ^, ^ ; ^@combine(kernel) ) ( BLK.y, BLK.x )
2: (de-)comp( 1, ^ )  ( ^, ^ ; y:RM[1] )           ( FOR.1, ^ )
""",
    "parts added by loops": """
1: (de-)comp( ^, 16 ) ( ^, ^ ; ^ )       ( ^, FOR.1 )
2: (de-)comp( 8, ^ )  ( ^, ^ ; y:RM[1] ) ( BLK.x, ^ )
3: (de-)comp( 1, ^ )  ( ^, ^ ; ^ )       ( FOR.1, ^ )
""",
}
WEIGHTED = """
void weighted(float alpha, const int bin[200], const float w[200], float h[8]) {
  for (int n = 0; n < 200; n++)
    h[bin[n]] += alpha * w[n];
}
"""


def program(*, strict: bool = False) -> Program:
    return read_program(Source("scaled.c", SCALED), strict_fp=strict)


def text(of: Program, schedule: str) -> str:
    plan = check(of, parse_schedule(Source("s.mdh", schedule)), load_machine("generic-cpu"), "opencl")
    return emit(lower(plan), of).source


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_results_are_right(schedule: str) -> None:
    device, of = open_device("opencl:0"), program()
    plan = check(of, parse_schedule(Source("s.mdh", schedule)), device.machine, "opencl")
    rng = np.random.default_rng(2)
    shapes = {"A": (37, 50), "x": 50, "y": 37}
    arrays = {n: rng.integers(-4, 5, s).astype(np.float32) for n, s in shapes.items()}
    want = 0.5 * arrays["y"] + 3.0 * (arrays["A"] @ arrays["x"])
    device.build(emit(lower(plan), of)).call(arrays, {"alpha": 1.5, "beta": 0.5}).launch()
    assert np.array_equal(arrays["y"], want)


def test_the_factor_stands_outside_the_loop() -> None:
    line = next(x for x in text(program(), SCHEDULES["in registers"]).splitlines() if "x[" in x and "+=" in x)
    assert "alpha" not in line and "2.0f" not in line


def test_strict_sums_keep_their_terms() -> None:
    lines = [x for x in text(program(strict=True), SCHEDULES["in registers"]).splitlines() if "x[" in x]
    assert any("alpha" in x for x in lines)


def test_terms_of_a_histogram_keep_it() -> None:
    of, device = read_program(Source("w.c", WEIGHTED)), open_device("opencl:0")
    plan = check(
        of,
        parse_schedule(Source("s.mdh", "1: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( BLK.x )")),
        device.machine,
        "opencl",
    )
    rng = np.random.default_rng(3)
    bins, w, h = rng.integers(0, 8, 200, dtype=np.int32), np.ones(200, np.float32), np.zeros(8, np.float32)
    device.build(emit(lower(plan), of)).call({"bin": bins, "w": w, "h": h}, {"alpha": 2.0}).launch()
    assert np.array_equal(h, 2.0 * np.bincount(bins, minlength=8))
