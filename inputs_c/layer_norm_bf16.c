// Layer normalisation of every row of bfloat16, computed in single precision: the mean, the variance, then scaled and shifted values.
// Sizes: 4096 rows of 1024 (chosen by us: activations of a transformer).
#include <math.h>
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 1024
#endif

void layer_norm_bf16(const __bf16 X[M][N], const __bf16 gain[N], const __bf16 bias[N], __bf16 Y[M][N]) {
  float mean[M], var[M];
  for (int i = 0; i < M; i++) {
    mean[i] = 0.0f;
    for (int j = 0; j < N; j++)
      mean[i] += (float)X[i][j];
    mean[i] = mean[i] / N;
  }
  for (int i = 0; i < M; i++) {
    var[i] = 0.0f;
    for (int j = 0; j < N; j++)
      var[i] += ((float)X[i][j] - mean[i]) * ((float)X[i][j] - mean[i]);
    var[i] = var[i] / N;
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      Y[i][j] = (__bf16)(((float)X[i][j] - mean[i]) / sqrtf(var[i] + 1e-5f) * (float)gain[j] + (float)bias[j]);
}
