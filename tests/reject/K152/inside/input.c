void large(const float A[64][512], float O[64][512]) {
  float T[64][512];
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 512; j++)
      T[i][j] = A[i][j] + 1;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 512; j++)
      O[i][j] = 2 * T[i][j];
}
