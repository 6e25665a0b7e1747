void sums(const float A[8][16], float O[8][16]) {
  float S[8];
  for (int i = 0; i < 8; i++) {
    S[i] = 0;
    for (int j = 0; j < 16; j++)
      S[i] += A[i][j];
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 16; j++)
      O[i][j] = A[i][j] / S[i];
}
