void f(float y[8], const float a[8][6]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++)
      if (a[i][j] > 0)
        y[i] += a[i][j];
      else
        y[i] *= 2;
}
