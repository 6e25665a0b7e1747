// y = A^T (A x).
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

void atax(const double A[M][N], const double x[N], double y[N], double tmp[M]) {
  for (int j = 0; j < N; j++)
    y[j] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++)
      tmp[i] += A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] += A[i][j] * tmp[i];
  }
}
