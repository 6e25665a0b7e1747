// Product of transposed matrices, stored transposed: C[j][i] = sum over k of A[k][i] * B[j][k].
// Sizes: M=10 N=500 K=64 (TOPLAS 2024 fig. 17, MatMul^T).
#ifndef M
#define M 10
#endif
#ifndef N
#define N 500
#endif
#ifndef K
#define K 64
#endif

void matmul_t(const float A[K][M], const float B[N][K], float C[N][M]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[j][i] = 0.0f;
      for (int k = 0; k < K; k++)
        C[j][i] += A[k][i] * B[j][k];
    }
}
