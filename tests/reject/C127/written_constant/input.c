void blur(const float w[3][3], const float x[66][66], float y[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          y[i][j] += w[a][b] * x[i + a][j + b];
}
