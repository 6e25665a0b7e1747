void two(const float A[64][256], const float B[64][256], float O[64][256], float U[64][256]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 256; j++)
      O[i][j] = A[i][j] + 1;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 256; j++)
      U[i][j] = 2 * B[i][j];
}
