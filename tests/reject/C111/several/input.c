void f(const float x[8], float y[8], int n) {
  float s = scale * 2;
  for (int i = 0; i < 8; i++) {
    y[i] = x[i] * s;
    y[i] += mean;
    while (y[i] > 1)
      y[i] *= 0.5f;
  }
  for (int i = 0; i < n; i++)
    y[i] = x[n - 1 - i] + mean;
}
