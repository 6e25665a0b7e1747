void sums(const float x[5][6], float y[5][6]) {
  for (int n = 0; n < 5; n++) {
    float s = 0.0f;
    for (int p = 0; p < 6; p++) {
      s += x[n][p];
      y[n][p] = s;
    }
  }
}
