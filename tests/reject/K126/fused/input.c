void f(const float x[8][16][48], float y[8][16][48]) {
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 16; k++)
      for (int j = 1; j < 48; j++)
        y[i][k][j] = x[i][k][j] - y[i][k][j - 1] / 2;
}
