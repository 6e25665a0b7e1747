"""Small programs that no shipped input is like, and that once went wrong on a device."""

import re
from functools import cache

import pytest

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.arrays import random_arrays
from tests.support.native import compiler
from tests.support.pairs import execute, planned

PROGRAMS = {
    # the sum is one of 8 bits wherever it goes, not only where it is stored
    "narrow sum": """#include <stdint.h>
        void f(int z[3], const int u[5], uint8_t s[1], const int h[16]) {
          s[0] = h[3];
          for (int j = 0; j < 5; j++) s[0] += 100 * u[4 - j];
          z[2] = s[0]; }""",
    # a record of which nothing is reduced
    "best of one": """void f(float y[5], const float z[5], int p[5], float q[5]) {
          for (int i = 0; i < 5; i++) if (y[i] < z[i]) { y[i] = z[i]; p[i] = i; }
          for (int i = 0; i < 5; i++) if (q[i] >= z[i]) q[i] = z[i]; }""",
    # a scalar beside a vector of narrow integers
    "narrow vector": """#include <stdint.h>
        void f(const int C[4][4], int16_t z[4]) {
          for (int i = 2; i < 4; i++) {
            uint16_t t = 1;
            for (int j = 0; j < 4; j++) if (C[j][i - 1]) t += 1;
            z[i] = t; } }""",
    # the identity of a comparison in int is none of what is stored
    "narrow minimum": """#include <stdint.h>
        void f(const int y[2], int8_t w[2]) {
          for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) if (y[i] < 1u) w[i] = w[i] <= 1 ? w[i] : 1; }""",
    # no lane divides where C does not, or reads beyond an array
    "divisions under conditions": """#include <stdint.h>
        #define N 37
        void f(const int z[N], const int x[N], int y[N], uint32_t w[N], const int8_t s[N], int v[N]) {
          for (int i = 0; i < N; i++) { if (z[i] != 0 && x[i] % z[i] == 0) y[i] = 1; else y[i] = 2; }
          for (int i = 0; i < N; i++) v[i] = z[i] == 0 || x[i] / z[i] > 0 ? 3 : x[i] / z[i];
          for (int i = 0; i < N; i++) if (w[i] != 0) w[i] = x[i] % w[i];
          for (int i = 0; i < N; i++) y[i] += z[i] == 0 ? 99 : s[i] / z[i] + 100 * (s[i] % z[i]);
          for (int i = 0; i < N; i++) if (z[i] != 0) y[0] += x[i] / z[i];
          for (int i = 0; i < N; i++) v[i] += i > 0 ? x[i - 1] : 0; }""",
    # a gather at one place for all lanes stays behind its condition
    "gather in lanes": """void f(const int x[8], const int q[5], const int z[16], int y[8]) {
          for (int i = 0; i < 8; i++) y[i] = (x[i] > 0 && q[0] >= 0 && q[0] < 16) ? z[q[0]] : 7; }""",
    # -0.5 as an integer and back is 0.0, not -0.0
    "floats through integers": """#include <math.h>
        void f(const float x[67], float y[67]) {
          for (int i = 0; i < 67; i++) y[i] = copysignf(1.0f, (float)(int)(x[i] * 0.25f)); }""",
    # vectors are shifted by vectors of as wide numbers
    "shifts": """#include <stdint.h>
        void f(const int64_t a[67], const int x[67], int y[67], int z[67]) {
          for (int i = 0; i < 67; i++) y[i] = x[i] * 2 << (a[i] & 7);
          for (int i = 0; i < 67; i++) z[i] = 1 << (x[i] & 15); }""",
    # an element of the vector is overwritten by the sum that reads it
    "in place": """void f(float y[37], const float A[37][29], float b[37]) {
          for (int i = 0; i < 37; i++) { y[i] = 0; for (int j = 0; j < 29; j++) y[i] += A[i][j] * b[i]; }
          for (int i = 0; i < 37; i++) b[i] = y[i]; }""",
}


@cache
def _device(spec: str) -> Device:
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    return open_device(spec)


@pytest.mark.parametrize("spec", ["c", "opencl:0"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_by_default(name: str, spec: str) -> None:
    program, device = read_program(Source("f.c", PROGRAMS[name])), _device(spec)
    plan = planned(program, None, device.machine, device.target)
    for seed in range(4):
        outcome = execute(plan, device, random_arrays(program, seed, "exact", {}), {})
        assert outcome.kind == "equal", outcome.detail


@pytest.mark.parametrize("machine", ["h200", "v100"])
def test_one_row_read_along_two_dimensions_is_legal_by_default(machine: str) -> None:
    text = (
        "void f(float C[3][2], const float c[5]) { for (int i = 0; i < 3; i++)"
        " for (int j = 0; j < 2; j++) C[i][j] = c[i + j]; }"
    )
    planned(read_program(Source("f.c", text)), None, load_machine(machine), "cuda")


def test_lanes_exchange_whatever_they_hold() -> None:
    """`part || __shfl_xor_sync(…)` would leave lanes out of the exchange."""
    text = """void f(int w[8], const int u[8]) {
      for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) if (u[j] <= i) w[i] = 7; }"""
    steps = "(de-)comp( 4, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n(de-)comp( 1, 1 ) ( ^ ; ^ ) ( THR.y, THR.x )\n"
    program, schedule = read_program(Source("f.c", text)), parse_schedule(Source("f.mdh", steps))
    emitted = emit(lower(planned(program, schedule, load_machine("h200"), "cuda")), program).source
    assert "__shfl_xor_sync" in emitted
    assert not re.search(r"(\|\||&&|\?).*__shfl", emitted)
