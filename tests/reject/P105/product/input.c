void f(const float A[2048][2048], const float B[2048][2048], float C[2048][2048]) {
  for (int i = 0; i < 2048; i++)
    for (int j = 0; j < 2048; j++)
      for (int k = 0; k < 2048; k++)
        C[i][j] += A[i][k] * B[k][j];
}
