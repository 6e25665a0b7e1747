from dataclasses import replace

from mdh.frontend.c.read import bound_text, read_bound
from mdh.source import Source
from mdh.verify.translation import validate

TEXT = """void rows(int M, int N, const float A[M][N], float y[M]) {
  for (int i = 0; i < M; i++) {
    y[i] = 1.0f;
    for (int j = 0; j < N; j++)
      y[i] += A[i][j];
  }
}
"""
pre = bound_text(Source("rows.c", TEXT), {"M": 3, "N": 4})
program = read_bound(pre)
result = replace(program.stages[0].results[0], starts=(None,))
validate(pre, replace(program, stages=(replace(program.stages[0], results=(result,)),)))
