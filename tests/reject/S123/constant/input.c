#define N 64
#define HALF (N / 2)
#define W (V)
#define V 64u
void scale(const float A[N], float B[N]) {
  for (int i = 0; i < N; i++)
    B[i] = 2 * A[i];
}
