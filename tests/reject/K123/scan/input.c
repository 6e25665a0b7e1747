void sums(const float A[64], float O[64]) {
  float S[64];
  S[0] = A[0];
  for (int i = 1; i < 64; i++)
    S[i] = S[i - 1] + A[i];
  for (int i = 0; i < 64; i++)
    O[i] = 2 * S[i];
}
