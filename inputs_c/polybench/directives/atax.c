// y = A^T (A x).
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

void atax(const double A[restrict M][N], const double x[restrict N], double y[restrict N],
          double tmp[restrict M]) {
  #pragma omp parallel for simd
  for (int j = 0; j < N; j++)
    y[j] = 0;
  #pragma omp parallel for reduction(+ : y[ : N])
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++)
      tmp[i] += A[i][j] * x[j];
    #pragma omp simd
    for (int j = 0; j < N; j++)
      y[j] += A[i][j] * tmp[i];
  }
}
