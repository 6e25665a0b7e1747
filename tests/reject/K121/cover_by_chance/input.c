void matmul(const float A[48][12], const float B[12][12], float C[48][12]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 12; j++)
      for (int k = 0; k < 12; k++)
        C[i][j] += A[i][k] * B[k][j];
}
