// B = alpha A^T B in place, A lower triangular with ones on its diagonal.
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

void trmm(double alpha, const double A[M][M], double B[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
}
