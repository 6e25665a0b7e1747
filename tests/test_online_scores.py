"""Reductions in one pass, of scores that are no numbers. Random ones: `tests/test_random_kinds.py`."""

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.native import compiler
from tests.support.pairs import execute, planned

SOFTMAX = """#include <math.h>
void rows(const float A[6][10], const float V[10][3], float O[6][3]) {
  float top[6], total[6];
  for (int i = 0; i < 6; i++) {
    top[i] = -INFINITY;
    for (int j = 0; j < 10; j++) top[i] = fmaxf(top[i], A[i][j]);
  }
  for (int i = 0; i < 6; i++) {
    total[i] = 0;
    for (int j = 0; j < 10; j++) total[i] += expf(A[i][j] - top[i]);
  }
  for (int i = 0; i < 6; i++)
    for (int d = 0; d < 3; d++) {
      O[i][d] = 0;
      for (int j = 0; j < 10; j++) O[i][d] += expf(A[i][j] - top[i]) / total[i] * V[j][d];
    }
}
"""
PASS = """stage top in O:2 { (de-)comp( 1, ^ ) ( ^ ; ^ ) ( FOR.1, ^ ) }
stage total in O:2 { (de-)comp( 1, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^ ) }
stage O online top, total {
  (de-)comp( 3, ^, ^ ) ( ^, ^, ^, ^ ; ^ )                            ( BLK.x, ^, ^ )
  (de-)comp( ^, ^, 4 ) ( ^, ^, top:SM[1], total:SM[1] ; O:RM[1,2] ) ( ^, ^, FOR.1 )
}
"""


def test_scores_that_are_no_numbers() -> None:
    """-infinity in whole parts and rows, NaN before and after numbers, infinity, jumps that underflow."""
    if compiler() is None:
        pytest.skip("no C compiler here")
    device, program = open_device("c"), read_program(Source("rows.c", SOFTMAX))
    plan = planned(program, parse_schedule(Source("rows.mdh", PASS)), device.machine, device.target)
    drawn = random_scores()
    found = execute(plan, device, drawn, {})
    assert found.kind == "equal", found
    built = device.build(emit(lower(plan), program))
    mine = {name: array.copy() for name, array in drawn.items()}
    built.call(mine, {}).launch()
    numbers = np.isfinite(mine["O"]).all(axis=1)
    assert numbers.tolist() == [True, True, False, False, False, True]


def random_scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(6, 10)).astype(np.float32)
    scores[0, :4] = -np.inf
    scores[1, :9] = -np.inf
    scores[2] = -np.inf
    scores[3, :8], scores[3, 1] = -np.inf, np.nan
    scores[4, 9] = np.inf
    scores[5, :9], scores[5, 9] = -300, 300
    values = rng.normal(size=(10, 3)).astype(np.float32)
    return {"A": scores, "V": values, "O": np.zeros((6, 3), np.float32)}
