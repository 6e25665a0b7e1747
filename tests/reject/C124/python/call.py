from mdh.frontend.c.read import read_program
from mdh.source import Source

text = "void f(float *y) { for (int i = 0; i < M; i++) y[i] = 1; }"
read_program(Source("f.c", text), defines={"M": 10**5000})
