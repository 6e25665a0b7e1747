"""Best pairs: on CPUs vectors of keys and places; one comparison where a unit's points come in C's order."""

from collections.abc import Callable
from itertools import product
from operator import ge, gt, le, lt
from typing import Any

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit

C = """
#include <math.h>
void best(const float A[6][37], float key[6], int place[6]) {
  for (int i = 0; i < 6; i++) {
    key[i] = START;
    place[i] = WHERE;
    for (int j = 0; j < 37; j++)
      if (A[i][j] SIGN key[i]) {
        key[i] = A[i][j];
        place[i] = j;
      }
  }
}
"""
LANES = """
1: (de-)comp( 2, ^ ) ( ^ ; ^, ^ )                    ( BLK.x, ^ )
2: (de-)comp( 1, ^ ) ( ^ ; ^, ^ )                    ( FOR.1, ^ )
3: (de-)comp( ^, 8 ) ( ^ ; key:RM[1], place:RM[1] )  ( ^, FOR.1 )
4: (de-)comp( ^, 1 ) ( ^ ; ^, ^ )                    ( ^, VEC.x )
"""
STRIDED = """
1: (de-)comp( 1, ^ )  ( ^ ; ^, ^ )                    ( BLK.x, ^ )
3: (de-)comp( ^, 4 )  ( ^ ; key:RM[1], place:RM[1] )  ( ^, FOR.1 )
2: (de-)comp( ^, 1 )  ( ^ ; ^, ^ )                    ( ^, FOR.2 )
"""
BLOCKS = """
1: (de-)comp( ^, 12 ) ( ^ ; ^, ^ ) ( ^, FOR.1 )
2: (de-)comp( ^, 8 )  ( ^ ; ^, ^ ) ( ^, BLK.x )
3: (de-)comp( 1, 1 )  ( ^ ; ^, ^ ) ( FOR.1, FOR.2 )
"""
"""The points of two blocks lie between one another."""
THREADS = """
1: (de-)comp( 2, ^ )  ( ^ ; ^, ^ )                   ( BLK.x, ^ )
2: (de-)comp( ^, 16 ) ( ^ ; key:RM[1], place:RM[1] ) ( ^, FOR.1 )
3: (de-)comp( 1, 2 )  ( ^ ; ^, ^ )                   ( THR.y, THR.x )
"""
SIGNS: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}
Values = np.ndarray[Any, Any]
STARTS = (("-INFINITY", "-1"), ("INFINITY", "-1"), ("A[i][0]", "0"))


def source(sign: str, start: str, where: str) -> Source:
    text = C.replace("SIGN", sign).replace("START", start).replace("WHERE", where)
    return Source("best.c", text)


def rows() -> Values:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 5, (6, 37)).astype(np.float32)
    a[1], a[2] = -np.inf, np.inf
    a[3, 1::3] = np.nan
    a[4] = np.nan
    return a


def in_c(row: Values, better: Callable[[Any, Any], bool], key: float, place: int) -> tuple[float, int]:
    for j, value in enumerate(row):
        if better(value, key):
            key, place = value, j
    return key, place


ON_CPUS = product(SIGNS, STARTS, (LANES, STRIDED, BLOCKS), ("opencl:0",))
ON_GPUS = product((">", "<="), STARTS, (THREADS,), ("oclgrind",))


@pytest.mark.parametrize(("sign", "start", "schedule", "name"), [*ON_CPUS, *ON_GPUS])
def test_ties_and_values_that_are_no_better_than_the_start(
    sign: str, start: tuple[str, str], schedule: str, name: str
) -> None:
    program = read_program(source(sign, *start))
    device = open_device(name)
    plan = check(program, parse_schedule(Source("s.mdh", schedule)), device.machine, "opencl")
    arrays = {"A": rows(), "key": np.zeros(6, np.float32), "place": np.zeros(6, np.int32)}
    device.build(emit(lower(plan), program)).call(arrays, {}).launch()
    for row, key, place in zip(arrays["A"], arrays["key"], arrays["place"], strict=True):
        first = {"A[i][0]": row[0], "INFINITY": np.inf, "-INFINITY": -np.inf}[start[0]]
        assert np.array_equal((key, place), in_c(row, SIGNS[sign], first, int(start[1])), equal_nan=True)


def test_one_comparison_in_order_and_positions_elsewhere() -> None:
    program = read_program(source(">", "-INFINITY", "-1"))
    cpu, gpu = load_machine("generic-cpu"), load_machine("a100")
    lanes = parse_schedule(Source("s.mdh", LANES))
    text = emit(lower(check(program, lanes, cpu, "opencl")), program).source
    assert "> h_key_RM_v ? v_key_RM_v : h_key_RM_v;" in text
    assert "(int8)(0, 1, 2, 3, 4, 5, 6, 7)" in text
    for schedule, positions in ((THREADS, False), (STRIDED, True)):
        plan = check(program, parse_schedule(Source("s.mdh", schedule)), gpu, "cuda")
        assert ("== h_key_RM &&" in emit(lower(plan), program).source) is positions
