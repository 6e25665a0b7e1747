void f(float x[64], float y[64][48]) {
  float t[64];
  for (int i = 0; i < 64; i++)
    t[i] = x[63 - i] * 2;
  for (int i = 0; i < 64; i++) {
    for (int j = 1; j < 48; j++)
      y[i][j] = t[i] - y[i][j - 1] / 2;
    x[i] = y[i][47];
  }
}
