// Matrix product of floats, which tensor cores may round to tf32: C[i][j] = sum over k of A[i][k] * B[j][k].
// Sizes: 1024 cubed, as matmul. The second factor is stored transposed, so that warp groups can read it.
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_tf32_t(const float A[M][K], const float B[N][K], float C[M][N]) {
#pragma mdh allow(tf32)
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[j][k];
    }
}
