void padded(const float A[64], float O[64]) {
  float T[66];
  for (int i = 0; i < 66; i++)
    T[i] = 1;
  for (int i = 0; i < 64; i++)
    T[i + 1] = A[i];
  for (int i = 0; i < 64; i++)
    O[i] = T[i] + T[i + 2];
}
