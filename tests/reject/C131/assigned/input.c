void f(float y[8][4]) {
  int n = 8;
  for (int i = 0; i < n; i++)
    for (n = 0; n < 4; n++)
      y[i][n] = 1;
}
