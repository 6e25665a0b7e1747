// Matrix times vector: C[i] = sum over k of A[i][k] * B[k].
// Sizes: 4096x4096 (TOPLAS 2024 fig. 17, MatVec); the figure's other case is 8192x8192.
#ifndef M
#define M 4096
#endif
#ifndef K
#define K 4096
#endif

void matvec(const float A[M][K], const float B[K], float C[M]) {
  for (int i = 0; i < M; i++) {
    C[i] = 0.0f;
    for (int k = 0; k < K; k++)
      C[i] += A[i][k] * B[k];
  }
}
