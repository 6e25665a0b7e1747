void twice(const float A[8][8], float O[8][8]) {
  float T[8][8];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      T[i][j] = A[i][j] + 1;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      O[i][j] = 2 * T[i][j];
}
