// One Jacobi sweep in one dimension: each interior point becomes the mean of itself and its two neighbours.
// Sizes: 2^24 points; the published measurements are of the three-dimensional form only.
#ifndef N
#define N 16777216
#endif

void jacobi1d(const float A[N + 2], float B[N]) {
  for (int i = 0; i < N; i++)
    B[i] = (A[i] + A[i + 1] + A[i + 2]) * (1.0f / 3.0f);
}
