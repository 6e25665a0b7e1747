import numpy as np

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source

text = (
    "void take(const int I[2], const float A[4], float B[2]) { for (int i = 0; i < 2; i++) B[i] = A[I[i]]; }"
)
arrays = {"I": np.array([0, 9], np.int32), "A": np.ones(4, np.float32), "B": np.zeros(2, np.float32)}
evaluate(read_program(Source("take.c", text)), arrays, {})
