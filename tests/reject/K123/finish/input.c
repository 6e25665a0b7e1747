void rows(const float A[16][64], const float B[16], float O[16]) {
  float T[16];
  for (int i = 0; i < 16; i++)
    T[i] = B[i] * B[i];
  for (int i = 0; i < 16; i++) {
    O[i] = 0;
    for (int j = 0; j < 64; j++)
      O[i] += A[i][j];
    O[i] = O[i] * T[i];
  }
}
