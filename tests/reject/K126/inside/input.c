void f(const float x[64], float y[64][48]) {
  float t[64];
  for (int i = 0; i < 64; i++) {
    t[i] = x[i] * 2;
    y[i][0] = t[i];
    for (int j = 1; j < 48; j++)
      y[i][j] = x[i] - y[i][j - 1] / 2;
  }
}
