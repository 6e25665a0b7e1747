// C = beta C + alpha A B.
#ifndef N
#define N 1000
#endif
#ifndef M
#define M 1100
#endif
#ifndef K
#define K 1200
#endif

void gemm(double alpha, double beta, double C[N][M], const double A[N][K], const double B[K][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++)
      C[i][j] *= beta;
    for (int k = 0; k < K; k++)
      for (int j = 0; j < M; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
