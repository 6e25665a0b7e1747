// A batch of matrix products: C[b][i][j] = sum over k of A[b][i][k] * B[b][k][j].
// Sizes: 16 products of 10x500x64 (TOPLAS 2024 fig. 17, bMatMul).
#ifndef BATCH
#define BATCH 16
#endif
#ifndef M
#define M 10
#endif
#ifndef N
#define N 500
#endif
#ifndef K
#define K 64
#endif

void batched_matmul(const float A[BATCH][M][K], const float B[BATCH][K][N], float C[BATCH][M][N]) {
  for (int b = 0; b < BATCH; b++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        C[b][i][j] = 0.0f;
        for (int k = 0; k < K; k++)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
      }
}
