// Heat in three dimensions: two explicit steps a turn, there and back between two grids.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 120
#endif
#ifndef T
#define T 500
#endif

void heat_3d(double A[restrict N][N][N], double B[restrict N][N][N]) {
  for (int t = 0; t < T; t++) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        #pragma omp simd
        for (int k = 1; k < N - 1; k++)
          B[i][j][k] = A[i][j][k] + 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                       + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                       + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]);
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        #pragma omp simd
        for (int k = 1; k < N - 1; k++)
          A[i][j][k] = B[i][j][k] + 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k])
                       + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k])
                       + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]);
  }
}
