void f(float A[64][48]) {
  for (int t = 0; t < 20; t++)
    for (int i = 1; i < 63; i++)
      for (int j = 1; j < 47; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]) / 4;
}
