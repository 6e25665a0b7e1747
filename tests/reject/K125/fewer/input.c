void shares(const float A[64][32], float O[64][32]) {
  float total[64];
  for (int i = 0; i < 64; i++) {
    total[i] = 0;
    for (int j = 0; j < 32; j++)
      total[i] += A[i][j];
  }
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++)
      O[i][j] = A[i][j] / total[i];
}
