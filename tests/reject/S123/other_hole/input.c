#define N 64
void scale(const float A[N], float B[N]) {
  for (int i = 0; i < N; i++)
    B[i] = 2 * A[i];
}
