// The mean of five neighbours, there and back between two grids.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 1300
#endif
#ifndef T
#define T 500
#endif

void jacobi_2d(double A[restrict N][N], double B[restrict N][N]) {
  for (int t = 0; t < T; t++) {
    #pragma omp parallel for
    for (int i = 1; i < N - 1; i++)
      #pragma omp simd
      for (int j = 1; j < N - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    #pragma omp parallel for
    for (int i = 1; i < N - 1; i++)
      #pragma omp simd
      for (int j = 1; j < N - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
}
