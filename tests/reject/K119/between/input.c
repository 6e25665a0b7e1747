void pairs(const float A[64], float O[128]) {
  float T[128];
  for (int i = 0; i < 128; i++)
    T[i] = 0;
  for (int i = 0; i < 64; i++)
    T[2 * i] = A[i];
  for (int i = 0; i < 128; i++)
    O[i] = T[i];
}
