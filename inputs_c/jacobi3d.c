// One Jacobi sweep in three dimensions: the mean of a point and its six neighbours (7 points).
// Sizes: 256 cubed (TOPLAS 2024 fig. 18, Jacobi3D); the figure's other case is 512 cubed.
#ifndef N
#define N 256
#endif
#ifndef M
#define M N
#endif
#ifndef L
#define L N
#endif

void jacobi3d(const float A[N + 2][M + 2][L + 2], float B[N][M][L]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      for (int k = 0; k < L; k++)
        B[i][j][k] = (1.0f / 7.0f) * (A[i + 1][j + 1][k + 1] + A[i][j + 1][k + 1] + A[i + 2][j + 1][k + 1] +
                                      A[i + 1][j][k + 1] + A[i + 1][j + 2][k + 1] +
                                      A[i + 1][j + 1][k] + A[i + 1][j + 1][k + 2]);
}
