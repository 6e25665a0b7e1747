// Correlation of M columns of N observations; a column without spread counts as one of spread 1.
// With OpenMP directives, and the promise that arrays are distinct.
#include <math.h>

#ifndef N
#define N 1400
#endif
#ifndef M
#define M 1200
#endif

void correlation(double data[restrict N][M], double corr[restrict M][M], double mean[restrict M],
                 double dev[restrict M]) {
  #pragma omp parallel for simd
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= N;
  }
  #pragma omp parallel for simd
  for (int j = 0; j < M; j++) {
    dev[j] = 0;
    for (int i = 0; i < N; i++)
      dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    dev[j] = sqrt(dev[j] / N);
    dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
  }
  #pragma omp parallel for
  for (int i = 0; i < N; i++)
    #pragma omp simd
    for (int j = 0; j < M; j++)
      data[i][j] = (data[i][j] - mean[j]) / (sqrt((double)N) * dev[j]);
  #pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < M - 1; i++) {
    corr[i][i] = 1;
    #pragma omp simd
    for (int j = i + 1; j < M; j++) {
      corr[i][j] = 0;
      for (int k = 0; k < N; k++)
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[M - 1][M - 1] = 1;
}
