void f(const float A[4096][4096], const float B[4096][4096], float C[4096][4096]) {
  for (int i = 0; i < 4096; i++)
    for (int j = 0; j < 4096; j++)
      for (int k = 0; k < 4096; k++)
        C[i][j] += A[i][k] * B[k][j];
}
