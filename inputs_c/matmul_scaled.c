// The BLAS product with scalars: C[i][j] = beta * C[i][j] + alpha * sum over k of A[i][k] * B[k][j].
// Sizes: 1024 cubed, as matmul; the form of PolyBench's gemm (in-place scaling before a reduction).
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_scaled(float alpha, float beta, const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < K; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
