void both(const float A[64], float T[64], float O[64]) {
  for (int i = 0; i < 64; i++)
    T[i] = 2 * A[i];
  for (int i = 0; i < 64; i++)
    O[i] = T[i] + 1;
}
