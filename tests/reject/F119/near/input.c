void product(const float A[64][64], const float B[64][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float sum = 0;
      for (int k = 0; k < 64; k++)
        sum += A[i][k] * B[j][k];
      C[i][j] = sum;
    }
}
