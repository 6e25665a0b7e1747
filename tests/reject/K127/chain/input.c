void three(const float A[64], float O[64], float U[64], float V[64]) {
  for (int i = 0; i < 64; i++)
    O[i] = A[i] + 1;
  for (int i = 0; i < 64; i++)
    U[i] = 2 * A[i];
  for (int i = 0; i < 64; i++)
    V[i] = 3 * A[63 - i];
}
