void pairs(const float A[16], float O[16][16]) {
  float T[16];
  for (int i = 0; i < 16; i++)
    T[i] = A[i] * A[i];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      O[i][j] = T[i] - T[j];
}
