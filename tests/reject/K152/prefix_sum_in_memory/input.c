// Inclusive prefix sum: S[i] = A[0] + … + A[i].
// Sizes: 2^24 elements (no published measurement; TOPLAS 2024 fig. 14 gives the expression, scan).
#ifndef N
#define N 16777216
#endif

void prefix_sum(const float A[N], float S[N]) {
  float sum = 0.0f;
  for (int i = 0; i < N; i++) {
    sum += A[i];
    S[i] = sum;
  }
}
