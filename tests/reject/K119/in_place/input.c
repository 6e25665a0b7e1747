void turned(float A[64]) {
  float T[64];
  for (int i = 0; i < 64; i++)
    T[i] = 2 * A[i];
  for (int i = 0; i < 64; i++)
    A[i] = T[63 - i] + 1;
}
