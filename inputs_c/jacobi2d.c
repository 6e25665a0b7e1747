// One Jacobi sweep in two dimensions: the mean of a point and its four neighbours, written to a second grid.
// Sizes: 4096x4096 points; the published measurements are of the three-dimensional form only.
#ifndef N
#define N 4096
#endif
#ifndef M
#define M N
#endif

void jacobi2d(const float A[N + 2][M + 2], float B[N + 2][M + 2]) {
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
}
