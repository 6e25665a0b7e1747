"""Slices of functions whose loops depend on outer counters: sampled elements are those of the whole."""

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.reference.sampling import interpreted_sample
from mdh.source import Source

TEXTS = {
    "rank update": """void f(double C[40][40], const double A[40][9]) {
      for (int i = 0; i < 40; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= 0.5;
        for (int k = 0; k < 9; k++)
          for (int j = 0; j <= i; j++) C[i][j] += A[i][k] * A[j][k];
      } }""",
    "rows of their own": """void f(const float x[30][30], float y[30], float t[30]) {
      for (int i = 29; i >= 0; i--) {
        for (int j = i; j < 30; j++) t[j] = x[i][j] * 2;
        y[i] = 0;
        for (int j = i; j < 30; j++) y[i] += t[29 + i - j];
      } }""",
    "steps from a start that moves": """void f(int y[64]) {
      for (int b = 0; b < 64; b += 8)
        for (int i = b + 1; i < b + 8; i += 2) y[i] = y[i] * 3 + b; }""",
    "time and triangle": """void f(float x[25][25], float y[25]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 25; i++) {
          y[i] = 0;
          for (int j = 0; j < i; j++) y[i] += x[i][j];
        }
        for (int i = 0; i < 25; i++)
          for (int j = 24; j > i; j--) x[j][i] = y[j] * 0.5f + t;
      } }""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_sampled_elements(name: str) -> None:
    program = read_program(Source("f.c", TEXTS[name]))
    rng = np.random.default_rng(3)
    arrays = {
        b.name: rng.integers(-4, 5, b.shape).astype(numpy_dtype(b.dtype))
        for b in program.buffers
        if not b.temp
    }
    assert program.syntax is not None
    whole = interpret_bounded(program.syntax, arrays, {})
    some = interpreted_sample(program, arrays, {}, executions=20_000)
    assert some is not None
    sample, found = some
    assert sample.kept
    for array, at in sample.elements.items():
        assert (found[array].value == whole[array].value.reshape(arrays[array].shape)[at]).all()
