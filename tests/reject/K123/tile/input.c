void three(const float A[64], float O[62]) {
  float T[64], U[64];
  for (int i = 0; i < 64; i++)
    T[i] = A[i] + 1;
  for (int i = 0; i < 62; i++)
    U[i] = T[i] + T[i + 2];
  for (int i = 0; i < 62; i++)
    O[i] = U[i] + T[i];
}
