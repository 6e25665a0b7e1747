// Matrix product of bfloat16 factors with a float result: C[i][j] = sum over k of A[i][k] * B[k][j].
// Sizes: 1024 cubed, as matmul. Needs a compiler with __bf16 (GCC 13, Clang 17).
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_bf16(const __bf16 A[M][K], const __bf16 B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
