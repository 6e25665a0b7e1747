"""A term of a sum may read the element that it alone adds to, however the sum is shared."""

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

TEXT = """void f(const int y[19], const int w[19], const int B[19][16], int z[19]) {
  for (int i = 0; i < 18; i++) {
    z[i] = -y[i];
    for (int j = i + 1; j < 11; j++)
      z[i] += z[18 - i] == B[i][j] ? w[i] : 3 * z[18 - i] + B[i][15 - j];
  }
}
"""
"""The loop over i is one of the program. In its turn 9 there is one term, which reads z[9]."""


@pytest.mark.parametrize(("spec", "seeds"), [("c", 8), ("oclgrind", 5)])
def test_right_by_random_schedules(spec: str, seeds: int) -> None:
    device, source = open_device(spec), Source("own.c", TEXT)
    program = read_program(source)
    rng = np.random.default_rng(1)
    given = {b.name: rng.integers(-3, 4, b.shape).astype(np.int32) for b in program.buffers if not b.temp}
    want = given["z"].copy()
    for i in range(18):
        want[i] = -given["y"][i]
        for j in range(i + 1, 11):
            same = want[18 - i] == given["B"][i, j]
            want[i] += given["w"][i] if same else 3 * want[18 - i] + given["B"][i, 15 - j]
    assert program.loops and any("z" in s.read & s.written for s in program.stages)
    ran = 0
    for seed in (None, *range(seeds)):
        schedule = None
        if seed is not None:
            text = random_schedule(program, device.machine, seed)
            schedule = parse_schedule(Source("random.mdh", text))
        try:
            plan = planned(program, schedule, device.machine, device.target)
        except Failed:
            assert seed is not None
            continue
        arrays = {n: a.copy() for n, a in given.items()}
        device.build(emit(lower(plan), program)).call(arrays, {}).launch()
        assert (arrays["z"] == want).all()
        ran += 1
    assert ran > 1
