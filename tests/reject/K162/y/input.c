void matmul(const float A[70000][8], const float B[8][8], float C[70000][8]) {
  for (int i = 0; i < 70000; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        C[i][j] += A[i][k] * B[k][j];
}
