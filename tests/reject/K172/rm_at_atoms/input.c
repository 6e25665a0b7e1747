void product(const float A[512][512], const float B[512][512], float C[512][512]) {
#pragma mdh allow(tf32)
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 512; j++) {
      float sum = 0;
      for (int k = 0; k < 512; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
