// s = A^T r and q = A p in one pass over A.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

void bicg(const double A[restrict N][M], double s[restrict M], double q[restrict N],
          const double p[restrict M], const double r[restrict N]) {
  #pragma omp parallel for simd
  for (int j = 0; j < M; j++)
    s[j] = 0;
  #pragma omp parallel for reduction(+ : s[ : M])
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < M; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}
