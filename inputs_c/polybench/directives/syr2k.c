// The lower triangle of C = beta C + alpha (A B^T + B A^T).
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

void syr2k(double alpha, double beta, double C[restrict N][N], const double A[restrict N][M],
           const double B[restrict N][M]) {
  #pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < N; i++) {
    #pragma omp simd
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      #pragma omp simd
      for (int j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}
