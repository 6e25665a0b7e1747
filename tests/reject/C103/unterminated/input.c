#ifndef N
#define N 8
void f(float y[N]) {
  for (int i = 0; i < N; i++)
    y[i] = 1;
}
