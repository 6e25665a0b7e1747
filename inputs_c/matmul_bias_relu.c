// A dense layer: C[i][j] = max(0, bias[j] + sum over k of A[i][k] * B[k][j]).
// Sizes: M=128 N=1024 K=1024, the fully connected layer that Tensor Comprehensions 2018 measures.
#ifndef M
#define M 128
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_bias_relu(const float A[M][K], const float B[K][N], const float bias[N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
      C[i][j] = C[i][j] + bias[j] > 0.0f ? C[i][j] + bias[j] : 0.0f;
    }
}
