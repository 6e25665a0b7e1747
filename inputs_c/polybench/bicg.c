// s = A^T r and q = A p in one pass over A.
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

void bicg(const double A[N][M], double s[M], double q[N], const double p[M], const double r[N]) {
  for (int j = 0; j < M; j++)
    s[j] = 0;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < M; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}
