void f(const float A[1024][1024], const float B[1024][1024], float C[1024][1024]) {
  for (int i = 0; i < 1024; i++)
    for (int j = 0; j < 1024; j++)
      for (int k = 0; k < 1024; k++)
        C[i][j] += A[i][k] * B[k][j];
}
