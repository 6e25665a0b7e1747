void rows(const float A[16][64], float O[16]) {
  float T[16];
  for (int i = 0; i < 16; i++) {
    T[i] = 0;
    for (int j = 0; j < 64; j++)
      T[i] += A[i][j];
  }
  for (int i = 0; i < 16; i++)
    O[i] = 2 * T[15 - i];
}
