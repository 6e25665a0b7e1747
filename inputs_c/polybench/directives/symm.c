// C = beta C + alpha A B with a symmetric A, of which the lower triangle is read.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

void symm(double alpha, double beta, double C[restrict M][N], const double A[restrict M][M],
          const double B[restrict M][N]) {
  for (int i = 0; i < M; i++)
    #pragma omp parallel for simd
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        sum += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
    }
}
