void f(float a[13][13]) {
  for (int i = 0; i < 13; i++)
    for (int j = 0; j < i; j++)
      a[j][i] = a[i][j];
}
