void rows(const float v[16], float O[8][16]) {
  float T[16];
  for (int j = 0; j < 16; j++)
    T[j] = v[j] * v[j];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 16; j++)
      O[i][j] = T[j];
}
