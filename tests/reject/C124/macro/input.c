#define M 18446744073709551680
void f(float y[M]) {
  for (int i = 0; i < M; i++)
    y[i] = 1;
}
