"""Prefix sums that hand values from block to block: many blocks, many launches, rows in many places."""

from typing import Any

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit

SCANS = {
    "one row, one warp looks back": (
        "(de-)comp( ^, 256 ) ( A:SM[1,2] ; ^ ) ( ^, BLK.x )\n(de-)comp( ^, 2 ) ( ^ ; ^ ) ( ^, THR.x )",
        (1, 1_000_003),
    ),
    "few threads": (
        "(de-)comp( ^, 16 ) ( ^ ; ^ ) ( ^, BLK.x )\n(de-)comp( ^, 2 ) ( ^ ; ^ ) ( ^, THR.x )",
        (1, 50_001),
    ),
    "rows over threads": (
        "(de-)comp( 8, 64 ) ( ^ ; ^ ) ( BLK.y, BLK.x )\n(de-)comp( 1, 4 ) ( ^ ; ^ ) ( THR.y, THR.x )",
        (29, 5_003),
    ),
    "rows over blocks and a loop": (
        "(de-)comp( 4, 512 ) ( ^ ; ^ ) ( BLK.x, BLK.y )\n(de-)comp( ^, 2 ) ( ^ ; ^ ) ( ^, THR.x )",
        (19, 20_011),
    ),
    "rows of whole warps, staged": (
        "(de-)comp( 2, 320 ) ( A:SM[1,2] ; S:SM[1,2] ) ( BLK.y, BLK.x )\n"
        "(de-)comp( 1, 5 ) ( ^ ; ^ ) ( THR.y, THR.x )",
        (7, 50_004),
    ),
    "staged asynchronously": (
        "(de-)comp( ^, 3840 ) ( A:SM[1,2]@copy(async) ; S:SM[1,2] ) ( ^, BLK.x )\n"
        "(de-)comp( ^, 15 ) ( ^ ; ^ ) ( ^, THR.x )",
        (1, 3_000_008),
    ),
}
OPERATORS = {"+": "t += A[i][p];", "max": "t = A[i][p] > t ? A[i][p] : t;"}


def _text(kind: str, op: str, rows: int, n: int) -> str:
    return (
        f"void scan(const {kind} A[{rows}][{n}], {kind} S[{rows}][{n}]) {{\n"
        f"  for (int i = 0; i < {rows}; i++) {{\n    {kind} t = 0;\n"
        f"    for (int p = 0; p < {n}; p++) {{ {OPERATORS[op]} S[i][p] = t; }}\n  }}\n}}\n"
    )


def _expected(op: str, a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.cumsum(a, 1, dtype=a.dtype) if op == "+" else np.maximum(np.maximum.accumulate(a, 1), 0)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["int", "float", "long long", "double", "short"])
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("name", SCANS)
def test_look_back(name: str, op: str, kind: str) -> None:
    schedule, (rows, n) = SCANS[name]
    device = open_device("cuda:0")
    program = read_program(Source("scan.c", _text(kind, op, rows, n)))
    plan = check(program, parse_schedule(Source("scan.mdh", schedule)), device.machine, "cuda")
    assert plan.stages[0].combines == (("shared", "ticket"),)
    built = device.build(emit(lower(plan), program))
    types = {
        "int": np.int32,
        "float": np.float32,
        "long long": np.int64,
        "double": np.float64,
        "short": np.int16,
    }
    rng = np.random.default_rng(0)
    for _ in range(25):
        # sums stay exact in every type, so every order of arrival must give the same bits
        a = rng.integers(-3, 4, (rows, n)).astype(types[kind])
        s = np.full_like(a, 99)
        built.call({"A": a, "S": s}, {}).launch()
        np.testing.assert_array_equal(s, _expected(op, a))
