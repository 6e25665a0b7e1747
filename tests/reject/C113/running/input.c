void f(float y[8], float at[8], const float a[8][6]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++)
      if (a[i][j] > y[i]) {
        y[i] = a[i][j];
        at[i] += y[i];
      }
}
