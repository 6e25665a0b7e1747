void three(const float A[64], const float B[64], float O[64], float U[64]) {
  float T[64];
  for (int i = 0; i < 64; i++)
    T[i] = A[i] + 1;
  for (int i = 0; i < 64; i++)
    U[i] = 2 * B[i];
  for (int i = 0; i < 64; i++)
    O[i] = 2 * T[i];
}
