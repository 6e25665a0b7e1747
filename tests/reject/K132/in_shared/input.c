void rowsum(const float x[8][64], float r[8]) {
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 64; k++)
      r[i] += x[i][k];
}
