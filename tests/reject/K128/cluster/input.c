void two(const float A[64][256], const float B[64][256], float O[64], float U[64]) {
  for (int i = 0; i < 64; i++) {
    O[i] = 0;
    for (int j = 0; j < 256; j++)
      O[i] += A[i][j];
  }
  for (int i = 0; i < 64; i++) {
    U[i] = 0;
    for (int j = 0; j < 256; j++)
      U[i] += B[i][j];
  }
}
