void f(float y[8][8]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < i * i; j++)
      y[i][j] = 1;
}
