void matmul(const float A[256][256], const float B[256][256], float C[256][256]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++)
      for (int k = 0; k < 256; k++)
        C[i][j] += A[i][k] * B[k][j];
}
