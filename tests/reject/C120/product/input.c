void f(float y[64], const float x[8][8]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      y[i * j] = x[i][j];
}
