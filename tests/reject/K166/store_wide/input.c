void scale(const double X[64][60], double Y[64][60]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 60; j++)
      Y[i][j] = 2 * X[i][j];
}
