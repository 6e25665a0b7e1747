void f(int N, const float x[N], float y[8], float z[8]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < 7; i++)
      z[i] = (y[i - 1] + y[i + 1]) * x[t];
    for (int i = 1; i < 7; i++)
      y[i] = z[i];
  }
}
