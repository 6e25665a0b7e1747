void turned(const float A[64], float O[64], float U[64], float V[64]) {
  for (int i = 0; i < 64; i++)
    O[i] = A[i] + 1;
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 64; i++)
      U[i] = 2 * V[63 - i];
    for (int i = 0; i < 64; i++)
      V[i] = 3 * U[63 - i];
  }
}
