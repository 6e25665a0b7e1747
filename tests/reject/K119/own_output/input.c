void steps(float A[64], float O[64]) {
  for (int i = 0; i < 64; i++)
    A[i] = 2 * A[i];
  for (int i = 0; i < 64; i++)
    O[i] = A[63 - i];
}
