void f(const float *x, float *y) {
  for (int i = 0; i < 8; i++)
    *y++ = x[i];
}
