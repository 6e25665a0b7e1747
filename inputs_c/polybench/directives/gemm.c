// C = beta C + alpha A B.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 1000
#endif
#ifndef M
#define M 1100
#endif
#ifndef K
#define K 1200
#endif

void gemm(double alpha, double beta, double C[restrict N][M], const double A[restrict N][K],
          const double B[restrict K][M]) {
  #pragma omp parallel for
  for (int i = 0; i < N; i++) {
    #pragma omp simd
    for (int j = 0; j < M; j++)
      C[i][j] *= beta;
    for (int k = 0; k < K; k++)
      #pragma omp simd
      for (int j = 0; j < M; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
