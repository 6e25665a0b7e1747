// Softmax of every row of bfloat16 in three nests, computed in single precision: the row's maximum, the sum of exponentials, the quotient.
// Sizes: 4096 rows of 1024 (chosen by us: attention scores).
#include <math.h>
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 1024
#endif

void softmax_bf16(const __bf16 A[M][N], __bf16 B[M][N]) {
  float top[M], total[M];
  for (int i = 0; i < M; i++) {
    top[i] = -INFINITY;
    for (int j = 0; j < N; j++)
      top[i] = fmaxf(top[i], (float)A[i][j]);
  }
  for (int i = 0; i < M; i++) {
    total[i] = 0.0f;
    for (int j = 0; j < N; j++)
      total[i] += expf((float)A[i][j] - top[i]);
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      B[i][j] = (__bf16)(expf((float)A[i][j] - top[i]) / total[i]);
}
