void zero(float A[2000000][2000000]) {
  for (int i = 0; i < 2000000; i++)
    for (int j = 0; j < 2000000; j++)
      A[i][j] = 0;
}
