// Covariance of M columns of N observations, both halves of the symmetric result.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 1400
#endif
#ifndef M
#define M 1200
#endif

void covariance(double data[restrict N][M], double cov[restrict M][M], double mean[restrict M]) {
  #pragma omp parallel for simd
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= N;
  }
  #pragma omp parallel for
  for (int i = 0; i < N; i++)
    #pragma omp simd
    for (int j = 0; j < M; j++)
      data[i][j] -= mean[j];
  #pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < M; i++)
    #pragma omp simd
    for (int j = i; j < M; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= N - 1.0;
      cov[j][i] = cov[i][j];
    }
}
