// Half-precision product summed in float: C[i][j] = sum over k of A[i][k] * B[k][j].
// Sizes: 1024 cubed, as matmul.
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_half(const _Float16 A[M][K], const _Float16 B[K][N], _Float16 C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0.0f;
      for (int k = 0; k < K; k++)
        sum += (float)A[i][k] * (float)B[k][j];
      C[i][j] = (_Float16)sum;
    }
}
