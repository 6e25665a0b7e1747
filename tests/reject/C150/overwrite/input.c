void f(float y[8], const float x[8][4]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++)
      y[i] = x[i][j];
}
