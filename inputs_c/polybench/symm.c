// C = beta C + alpha A B with a symmetric A, of which the lower triangle is read.
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

void symm(double alpha, double beta, double C[M][N], const double A[M][M], const double B[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        sum += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
    }
}
