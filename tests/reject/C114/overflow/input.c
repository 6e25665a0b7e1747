#define N 100000
void f(float *y) {
  for (int i = 0; i < N * N; i++)
    y[i] = 1;
}
