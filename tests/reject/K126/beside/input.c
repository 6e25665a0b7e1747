void f(const float x[64][48], float y[64][48], float z[64]) {
  for (int i = 0; i < 64; i++) {
    y[i][0] = x[i][0];
    for (int j = 1; j < 48; j++)
      y[i][j] = x[i][j] - y[i][j - 1] / 2;
  }
  for (int i = 0; i < 64; i++)
    z[i] = 2 * x[i][3];
}
