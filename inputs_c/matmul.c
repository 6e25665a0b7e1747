// Matrix product added to what C holds: C[i][j] += sum over k of A[i][k] * B[k][j].
// Sizes: 1024 cubed (TOPLAS 2024 fig. 17); 1x1000x2048 and 16x1000x2048 are ResNet-50's (HiPar'22, CC'23).
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul(const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
}
