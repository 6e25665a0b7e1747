// Matrix transposition: B[j][i] = A[i][j].
// Sizes: 4096x4096 (chosen by us: 64 MiB a matrix).
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 4096
#endif

void transpose(const float A[M][N], float B[N][M]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      B[j][i] = A[i][j];
}
