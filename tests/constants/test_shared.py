"""Arrays that are read at data lie whole in shared memory: packed values of patterns, tables."""

import os
import re
from random import Random

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.frontend.constant_arrays import constant_text
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.verify.arguments import make_arrays
from tests.constants.test_random import check, device
from tests.languages.kinds import Array
from tests.support.exact_interpreter import interpret
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

PACKED = """
void f(const float C[3][4][5], const float A[4][40], const float B[5][40], float O[3][40]) {
  for (int n = 0; n < 40; n++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++)
        for (int l = 0; l < 5; l++)
          O[j][n] += C[j][k][l] * A[k][n] * B[l][n];
}"""
GATHERED = """
void f(const float t[50][7], const int ix[64], const float w[64], float O[7]) {
  for (int j = 0; j < 7; j++)
    for (int i = 0; i < 64; i++)
      O[j] += w[i] * t[ix[i]][j];
}"""
SCATTERED = """
void f(const int m[50], const int k[200], int O[20]) {
  for (int i = 0; i < 200; i++)
    O[m[k[i]]] += 1;
}"""
CASES = {
    "default": (PACKED, ""),
    "rolled": (
        PACKED,
        """(de-)comp( ^,^,2,^ ) ( C:SM[1],^,^,^,^ ; O:RM[2,1] ) ( ^,^,FOR.1,^ )
           (de-)comp( 1,^,^,^ ) ( ^,^,^,^,^ ; ^ ) ( THR.x,^,^,^ )""",
    ),
    "slots": (
        GATHERED,
        """(de-)comp( ^,16 ) ( t:SM[2,1],ix:SM[1],w:SM[1] ; ^ ) ( ^,FOR.1 ) @stages(2)
           (de-)comp( 1,^ ) ( t:SM[1,2],^,^ ; ^ ) ( THR.x,^ )""",
    ),
    "async": (
        GATHERED,
        """(de-)comp( 4,10 ) ( t:SM[1,2]@copy(async else plain),ix:SM[1],^ ; ^ ) ( BLK.x,FOR.1 ) @stages(3)
           (de-)comp( 1,5 ) ( ^,^,^ ; O:SM[1] ) ( THR.x,THR.y )""",
    ),
    "table": (
        SCATTERED,
        """(de-)comp( 64 ) ( m:SM[1],k:SM[1] ; ^ ) ( BLK.x )
           (de-)comp( 4 ) ( ^,^ ; ^ ) ( THR.x )""",
    ),
}


def _program(name: str) -> tuple[Program, dict[str, Array], Array]:
    """The program, its arrays, and what it must compute."""
    rng, source = np.random.default_rng(5), Source("f.c", CASES[name][0])
    plain = read_program(source)
    given: dict[str, Array] = {}
    if source.text == PACKED:
        given["C"] = (rng.integers(0, 3, (3, 4, 5)) * rng.integers(0, 2, (3, 4, 5))).astype(np.float32)
    elif source.text == GATHERED:
        given["ix"] = rng.integers(0, 50, 64).astype(np.int32)
    else:
        given["m"] = rng.integers(0, 20, 50).astype(np.int32)
        given["k"] = rng.integers(0, 50, 200).astype(np.int32)
    arrays = make_arrays(plain, given, 1, "exact")
    assert plain.syntax is not None
    want = interpret(plain.syntax, arrays, {})["O"]
    if source.text != PACKED:
        return plain, arrays, want
    program = read_program(source, defines={"C": constant_text(given["C"], pattern=True)})
    return program, {**arrays, "C": given["C"][given["C"] != 0]}, want


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    program, arrays, want = _program(name)
    there, text = device("oclgrind"), CASES[name][1]
    schedule = parse_schedule(Source("s.mdh", text)) if text else None
    emitted = emit(lower(planned(program, schedule, there.machine, there.target)), program)
    assert "__local" in emitted.source
    there.build(emitted).call(arrays, {}).launch()
    np.testing.assert_array_equal(arrays["O"], want)


@pytest.mark.parametrize("name", CASES)
def test_cuda(name: str) -> None:
    program, _, _ = _program(name)
    schedule = parse_schedule(Source("s.mdh", CASES[name][1])) if CASES[name][1] else None
    emitted = emit(lower(planned(program, schedule, load_machine("h100"), "cuda")), program)
    cubin = compile_cubin(emitted, "sm_90a")
    assert cubin.warnings == () and cubin.shared > 0


@pytest.mark.parametrize("seed", range(int(os.environ.get("MDH_RANDOM_SHARED", "4"))))
def test_random_schedules(seed: int) -> None:
    """One of random schedules that copy an array whole."""
    rng = Random(f"whole {seed}")
    program, arrays, want = _program(rng.choice(("default", "slots", "table")))
    there, whole = device("oclgrind"), re.compile(r"\b[Ctm]:SM")
    drawn = (random_schedule(program, there.machine, n) for n in range(100 * seed, 100 * seed + 100))
    assert any(check(program, text, "oclgrind", arrays, want) for text in drawn if whole.search(text))
