void thin(const float X[64][128], float Y[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      Y[i][j] = X[i][2 * j];
}
