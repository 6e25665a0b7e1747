import numpy as np

from mdh.frontend.c.read import read_program
from mdh.reference.interpreter import interpret_bounded
from mdh.source import Source

text = """void halve(const int D[2], const int A[2], int B[2]) {
  for (int i = 0; i < 2; i++)
    B[i] = A[i] / D[i];
}
"""
arrays = {"D": np.array([2, 0], np.int32), "A": np.ones(2, np.int32), "B": np.zeros(2, np.int32)}
syntax = read_program(Source("halve.c", text)).syntax
assert syntax is not None
interpret_bounded(syntax, arrays, {})
