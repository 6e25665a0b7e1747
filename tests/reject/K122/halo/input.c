void blur(const float A[66], float O[64]) {
  float T[66];
  for (int i = 0; i < 66; i++)
    T[i] = A[i] * A[i];
  for (int i = 0; i < 64; i++)
    O[i] = T[i] + T[i + 1] + T[i + 2];
}
