// B = alpha A^T B in place, A lower triangular with ones on its diagonal.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

void trmm(double alpha, const double A[restrict M][M], double B[restrict M][N]) {
  for (int i = 0; i < M; i++)
    #pragma omp parallel for simd
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
}
