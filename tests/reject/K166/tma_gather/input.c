void embed(const float t[100][32], const int ix[64], float y[32]) {
  for (int j = 0; j < 32; j++)
    for (int i = 0; i < 64; i++)
      y[j] += t[ix[i]][j];
}
