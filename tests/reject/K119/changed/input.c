void scaled(float A[64], float O[64]) {
  float T[64];
  for (int i = 0; i < 64; i++)
    T[i] = 2 * A[i];
  for (int i = 0; i < 64; i++)
    A[i] = 0;
  for (int i = 0; i < 64; i++)
    O[i] = T[i];
}
