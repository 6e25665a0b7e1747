void f(const float x[64][48], float y[64]) {
  for (int i = 0; i < 64; i++) {
    y[i] = 0;
    for (int j = 0; j < 48; j++)
      y[i] += x[i][j];
  }
}
