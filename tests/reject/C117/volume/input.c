void f(int n, float y[n][n][n]) {
  for (int i = 0; i < 8; i++)
    y[i][i][i] = 1;
}
