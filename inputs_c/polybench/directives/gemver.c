// A update of rank two, then products with the new matrix transposed and as it is.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2000
#endif

void gemver(double alpha, double beta, double A[restrict N][N], const double u1[restrict N],
            const double v1[restrict N], const double u2[restrict N], const double v2[restrict N],
            double w[restrict N], double x[restrict N], const double y[restrict N],
            const double z[restrict N]) {
  #pragma omp parallel for
  for (int i = 0; i < N; i++)
    #pragma omp simd
    for (int j = 0; j < N; j++)
      A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  #pragma omp parallel for simd
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] += beta * A[j][i] * y[j];
  #pragma omp parallel for simd
  for (int i = 0; i < N; i++)
    x[i] += z[i];
  #pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] += alpha * A[i][j] * x[j];
}
