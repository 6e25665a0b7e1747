"""Triangular stages on device `c`: what is left out changes nothing, and whole parts test no conditions."""

import re
from functools import cache

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.domain import domain_of
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.soundness.verdict import EQUAL, compared
from tests.support.native import compiler
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

PROGRAMS = {
    "rank update": """void f(double a, double b, double C[37][37], const double A[37][13]) {
      for (int i = 0; i < 37; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= b;
        for (int k = 0; k < 13; k++)
          for (int j = 0; j <= i; j++) C[i][j] += a * A[i][k] * A[j][k];
      } }""",
    "triangular product": """void f(double a, const double A[29][29], double B[29][11]) {
      for (int i = 0; i < 29; i++)
        for (int j = 0; j < 11; j++) {
          for (int k = i + 1; k < 29; k++) B[i][j] += A[k][i] * B[k][j];
          B[i][j] *= a;
        } }""",
    "mirrored": """void f(const float x[9][31], float c[31][31]) {
      for (int i = 0; i < 30; i++) {
        c[i][i] = 1;
        for (int j = i + 1; j < 31; j++) {
          c[i][j] = 0;
          for (int k = 0; k < 9; k++) c[i][j] += x[k][i] * x[k][j];
          c[j][i] = c[i][j];
        }
      }
      c[30][30] = 1; }""",
    "band": """void f(const float x[41][41], float y[41]) {
      for (int i = 0; i < 41; i++) {
        y[i] = 0;
        for (int j = i + 5; j >= i - 3; j--) if (j >= 0 && j < 41) y[i] += x[i][j];
      } }""",
    "from below": """void f(const float x[33][33], float y[33][33]) {
      for (int i = 32; i >= 20; i--)
        for (int j = 2 * i - 40; j < 33; j++) y[i][j] = x[j][i] + 1; }""",
    "tetrahedron": """void f(const int x[17][17], int y[17]) {
      for (int i = 0; i < 17; i++)
        for (int j = 0; j < i; j++)
          for (int k = j; k <= i; k++) y[i] += x[j][k]; }""",
    # the condition on data is none on the domain
    "data beside a bound": """void f(const float x[20][20], float y[20]) {
      for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++) { int c = j <= i && x[i][j] > 0; if (c != 0) y[i] += x[i][j]; } }""",
    # what the sum starts from is read where it is stored
    "local sum": """void f(const float x[20][20], float z[20][20]) {
      for (int i = 0; i < 20; i++)
        for (int j = 0; j <= i; j++) {
          float s = 0;
          for (int k = 0; k < 20; k++) s += x[i][k] * x[k][j];
          z[i][j] = s;
        } }""",
    # ends that int cannot hold
    "large numbers": """void f(const float x[20][20], float y[20]) {
      for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++) if (j * 100000000 <= i * 100000000) y[i] += x[i][j]; }""",
    "best": """void f(const float x[23][23], float m[23], int at[23]) {
      for (int i = 0; i < 23; i++) {
        m[i] = -100; at[i] = -1;
        for (int j = i; j < 23; j++) if (x[i][j] > m[i]) { m[i] = x[i][j]; at[i] = j; }
      } }""",
}


@cache
def _device(spec: str = "c") -> Device:
    return open_device(spec)


@cache
def _program(name: str) -> Program:
    return read_program(Source("f.c", PROGRAMS[name]))


def _runs_right(program: Program, schedule: Schedule | None, seed: int, spec: str = "c") -> bool:
    """False if the checker refuses the schedule."""
    device = _device(spec)
    try:
        plan = planned(program, schedule, device.machine, device.target)
    except Failed:
        assert schedule is not None
        return False
    rng = np.random.default_rng(seed)
    arrays = {
        b.name: rng.integers(-4, 5, b.shape).astype(numpy_dtype(b.dtype))
        for b in program.buffers
        if not b.temp
    }
    scalars = {s.name: 1.25 for s in program.scalars}
    found = {n: a.copy() for n, a in arrays.items()}
    typed = {n: np.float64(v) for n, v in scalars.items()}
    device.build(emit(lower(plan), program)).call(found, typed).launch()
    assert program.syntax is not None
    judge = interpret_bounded(program.syntax, arrays, scalars)
    assert compared(program, found, judge, spec) == EQUAL
    return True


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
@pytest.mark.parametrize("name", PROGRAMS)
def test_default_and_random_schedules(name: str) -> None:
    program = _program(name)
    assert _runs_right(program, None, 1)
    legal = 0
    for seed in range(200):
        text = random_schedule(program, _device().machine, seed)
        legal += _runs_right(program, parse_schedule(Source("s.mdh", text)), seed)
        if legal == 6:
            break
    assert legal == 6


AHEAD = {
    "triangular product": """stage B {
      1: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, ^, ^ )
      2: (de-)comp( ^, ^, 5 ) ( A:SM[1,2], B_before:SM[1,2] ; B:RM[1,2] ) ( ^, ^, ^ ) @stages(%d)
      3: (de-)comp( 4, 6, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
      4: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ ) }""",
    "band": """1: (de-)comp( 8, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )
      2: (de-)comp( ^, 2 ) ( x:SM[1,2] ; y:RM[1] ) ( ^, ^ ) @stages(%d)
      3: (de-)comp( 2, ^ ) ( ^ ; ^ ) ( THR.x, ^ )
      4: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, ^ )""",
    "tetrahedron": """1: (de-)comp( 4, ^, ^ ) ( ^ ; ^ ) ( BLK.x, ^, ^ )
      2: (de-)comp( ^, 3, ^ ) ( x:SM[1,2] ; y:RM[1] ) ( ^, ^, ^ ) @stages(%d)
      3: (de-)comp( 1, ^, ^ ) ( ^ ; ^ ) ( THR.x, ^, ^ )
      4: (de-)comp( ^, 1, 1 ) ( ^ ; ^ ) ( ^, ^, ^ )""",
}
"""A loop that begins late, and whose copies run ahead of it."""


@pytest.mark.parametrize("spec", ["oclgrind", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("name", AHEAD)
def test_copies_ahead_begin_where_the_loop_begins(name: str, stages: int, spec: str) -> None:
    text = AHEAD[name] % stages
    for engine in ("", "@copy(async)") if spec == "cuda:0" else ("",):
        schedule = parse_schedule(Source("s.mdh", text.replace(":SM[1,2]", f":SM[1,2]{engine}")))
        assert _runs_right(_program(name), schedule, stages, spec)


def test_no_variable_is_called_as_a_loop_around_stages() -> None:
    program = read_program(Source("f.c", """void f(int x[8], int y[8]) {
      for (int i_1 = 0; i_1 < 3; i_1++) {
        for (int i = 0; i < 8; i++) y[i] = x[i] + i_1;
        for (int i = 0; i < 8; i++) x[i] = y[7 - i];
      } }"""))  # fmt: skip
    assert [x.var for x in program.loops] == ["i_1"]
    steps = "(de-)comp( 4 ) ( ^ ; ^ ) ( ^ ) (de-)comp( 1 ) ( ^ ; ^ ) ( ^ )"
    text = " ".join(f"stage {s.name} {{ {steps} }}" for s in program.stages)
    assert _runs_right(program, parse_schedule(Source("s.mdh", text)), 1)


def test_what_is_known_of_a_stage() -> None:
    (stage,) = _program("rank update").stages
    domain = domain_of(stage)
    assert domain is not None
    assert [f.terms for f in domain.points] == [(("i", 1), ("j", -1))]
    assert domain.points == domain.results
    (product,) = (s for s in _program("triangular product").stages if s.name == "B")
    domain = domain_of(product)
    # the rows without terms are multiplied, too
    assert domain is not None and domain.points and not domain.results


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_whole_parts_test_no_conditions() -> None:
    program = _program("rank update")
    text = """1: (de-)comp( 8, ^, 8 ) ( ^ ; ^ ) ( BLK.y, ^, BLK.x )
              2: (de-)comp( 4, ^, 4 ) ( ^ ; C:RM[1,2] ) ( ^, ^, ^ )
              3: (de-)comp( ^, 1, ^ ) ( ^ ; ^ ) ( ^, ^, ^ )
              4: (de-)comp( 1, ^, 1 ) ( ^ ; ^ ) ( ^, ^, ^ ) @unroll"""
    plan = planned(program, parse_schedule(Source("s.mdh", text)), _device().machine, "c")
    code = emit(lower(plan), program).source
    updates = re.findall(r"C_RM\[[^;]*\+=[^;]*;", code)
    assert any("?" in u for u in updates) and any("?" not in u for u in updates)
    assert "if (blk_i * 8 - blk_j * 8 >= -7)" in code


FOREIGN = {
    # row and column of an element follow from one variable
    "i in two dimensions": (
        """void f(const int x[12], int c[14][40]) { for (int i = 0; i < 12; i++)
             for (int j = 0; j < 2; j++) c[i + 1][20 - i - j] = x[i] + j; }""",
        """1: (de-)comp( 6, ^ ) ( ^ ; c:SM[2,1] ) ( THR.x, ^ )
           2: (de-)comp( 2, 1 ) ( ^ ; ^ ) ( ^, ^ )
           3: (de-)comp( 1, ^ ) ( ^ ; ^ ) ( ^, ^ )""",
    ),
    # threads finish elements that others have computed
    "an epilogue of copies": (
        """void f(const int x[16][4], const int z[16], int w[16]) { for (int i = 0; i < 16; i++) {
             w[i] = -9; for (int j = 0; j < 4; j++) w[i] = x[i][j] > w[i] ? x[i][j] : w[i];
             w[i] = w[i] > z[i] ? z[i] : w[i]; } }""",
        """1: (de-)comp( 8, ^ ) ( ^, ^ ; ^ ) ( THR.x, ^ )
           2: (de-)comp( 2, ^ ) ( ^, z:RM[1] ; w:SM[1] ) ( ^, ^ )
           3: (de-)comp( 1, 1 ) ( ^, ^ ; ^ ) ( ^, ^ )""",
    ),
}


@pytest.mark.parametrize("spec", ["oclgrind", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", FOREIGN)
def test_threads_store_elements_of_others(name: str, spec: str) -> None:
    text, schedule = FOREIGN[name]
    assert _runs_right(read_program(Source("f.c", text)), parse_schedule(Source("s.mdh", schedule)), 1, spec)
