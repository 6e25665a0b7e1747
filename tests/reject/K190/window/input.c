void jacobi(const float X[66][66], float Y[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      Y[i][j] = X[i][j + 1] + X[i + 2][j + 1] + X[i + 1][j] + X[i + 1][j + 2];
}
