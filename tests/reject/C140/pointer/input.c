void f(float *y, const float *x) {
  for (int i = 0; i < 8; i++)
    y[i] = x[i - 1];
}
