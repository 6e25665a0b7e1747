// Inner product: C[0] = sum over k of A[k] * B[k].
// Sizes: 2^24 elements (TOPLAS 2024 fig. 17, Dot); the figure's other case is K=10000000.
#ifndef K
#define K 16777216
#endif

void dot(const float A[K], const float B[K], float C[1]) {
  C[0] = 0.0f;
  for (int k = 0; k < K; k++)
    C[0] += A[k] * B[k];
}
