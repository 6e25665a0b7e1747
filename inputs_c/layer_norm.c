// Layer normalisation of every row: the mean, the variance, then scaled and shifted values.
// Sizes: 4096 rows of 1024 (chosen by us: activations of a transformer).
#include <math.h>
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 1024
#endif

void layer_norm(const float X[M][N], const float gain[N], const float bias[N], float Y[M][N]) {
  float mean[M], var[M];
  for (int i = 0; i < M; i++) {
    mean[i] = 0.0f;
    for (int j = 0; j < N; j++)
      mean[i] += X[i][j];
    mean[i] = mean[i] / N;
  }
  for (int i = 0; i < M; i++) {
    var[i] = 0.0f;
    for (int j = 0; j < N; j++)
      var[i] += (X[i][j] - mean[i]) * (X[i][j] - mean[i]);
    var[i] = var[i] / N;
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      Y[i][j] = (X[i][j] - mean[i]) / sqrtf(var[i] + 1e-5f) * gain[j] + bias[j];
}
