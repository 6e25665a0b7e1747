void most(const float x[64][64], float m[64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      if (x[i][j] > m[i])
        m[i] = x[i][j];
}
