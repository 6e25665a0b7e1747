void product(const float x[8][4], float y[8]) {
  for (int i = 0; i < 8; i++) {
    y[i] = 1.0f;
    for (int j = 0; j < 4; j++)
      y[i] *= x[i][j];
  }
}
