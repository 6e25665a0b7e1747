// Exclusive prefix sum of 32-bit integers: S[i] = A[0] + … + A[i-1], S[0] = 0.
// Sizes: 2^24 elements, as prefix_sum.
#ifndef N
#define N 16777216
#endif

void prefix_sum_exclusive(const int A[N], int S[N]) {
  int sum = 0;
  for (int i = 0; i < N; i++) {
    S[i] = sum;
    sum += A[i];
  }
}
