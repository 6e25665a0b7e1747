// A batch of products with B transposed, bfloat16 summed in float: C[b][i][j] = sum over k of A[b][i][k] * B[b][j][k].
// Sizes: BATCH=500 M=72 N=26 K=26 (Tensor Comprehensions 2018, TBMM, from factorization machines).
#ifndef BATCH
#define BATCH 500
#endif
#ifndef M
#define M 72
#endif
#ifndef N
#define N 26
#endif
#ifndef K
#define K 26
#endif

void batched_matmul_t_bf16(const __bf16 A[BATCH][M][K], const __bf16 B[BATCH][N][K], __bf16 C[BATCH][M][N]) {
  for (int b = 0; b < BATCH; b++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
          sum += (float)A[b][i][k] * (float)B[b][j][k];
        C[b][i][j] = (__bf16)sum;
      }
}
