void jacobi(const float X[66][66], float Y[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      Y[i][j] = X[63 - i][j + 1] + X[65 - i][j + 1] + X[64 - i][j] + X[64 - i][j + 2];
}
